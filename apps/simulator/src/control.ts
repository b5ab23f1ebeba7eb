import type { ModelRegistry } from './model-registry';
import type { RequestLog } from './request-log';
import { InvalidScript, parseSteps } from './script';
import type { ModelPatch } from './settings';
import { InvalidSettings } from './settings-patch';

interface ControlAnswer {
  readonly status: number;
  readonly value: unknown;
}

interface ControlRequest {
  readonly method: string;
  readonly url: URL;
  readonly text: string;
}

/** What the control endpoints work on. */
export interface Controlled {
  readonly registry: ModelRegistry;
  readonly log: RequestLog;
}

const CALLER_FAULTS = [InvalidSettings, InvalidScript, SyntaxError, URIError];
const NOTHING_THERE: ControlAnswer = {
  status: 404,
  value: { error: { message: 'There is no such control endpoint.' } },
};

/** Answers a request under `/control/`. */
export function answerControl(request: ControlRequest, controlled: Controlled): ControlAnswer {
  try {
    return route(request, controlled);
  } catch (error) {
    if (!CALLER_FAULTS.some(kind => error instanceof kind) || !(error instanceof Error)) throw error;
    return { status: 400, value: { error: { message: error.message } } };
  }
}

function route({ method, url, text }: ControlRequest, { registry, log }: Controlled): ControlAnswer {
  const [what, name, action] = url.pathname
    .split('/')
    .slice(2)
    .map(part => decodeURIComponent(part));
  if (what === 'models' && name !== undefined && name !== '') {
    return routeModel(method, name, action, text, registry);
  }
  switch (`${method} ${what}`) {
    case 'GET stats':
      return done(registry.stats());
    case 'GET requests':
      return done(log.of(url.searchParams.get('model') ?? undefined));
    case 'POST reset':
      registry.reset();
      log.clear();
      return done({ ok: true });
    default:
      return NOTHING_THERE;
  }
}

function routeModel(
  method: string,
  name: string,
  action: string | undefined,
  text: string,
  registry: ModelRegistry,
): ControlAnswer {
  switch (`${method} ${action ?? ''}`) {
    case 'GET ': {
      const model = registry.find(name);
      return model === null
        ? { status: 404, value: { error: { message: `There is no model ${name}.` } } }
        : done(model.settings);
    }
    case 'PATCH ':
      return done(registry.configure(name, JSON.parse(text) as ModelPatch).settings);
    case 'DELETE ':
      registry.remove(name);
      return done({ ok: true });
    case 'POST script':
      registry.script(name, parseSteps(JSON.parse(text)));
      return done({ ok: true });
    default:
      return NOTHING_THERE;
  }
}

function done(value: unknown): ControlAnswer {
  return { status: 200, value };
}
