import {
  Journal,
  ownCaller,
  type Call,
  type Controls,
  type JsonObject,
  type ModelSettings,
  type Operation,
  type RouteSettings,
} from '@spillway/contracts';

interface ProbeDetails {
  readonly id: string;
  readonly operation: Operation;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch; also when it begins. */
  readonly receivedAt: number;
  readonly turnBy: number;
}

const PROBER = ownCaller('probe');

const NO_CONTROLS: Controls = {
  priority: null,
  priorityBy: null,
  maxWaitMs: null,
  deadlineMs: null,
  scope: '',
  user: null,
  cacheRead: false,
  cacheWrite: false,
  onlyIfCached: false,
  cacheLevel: 'off',
  cacheTtlS: null,
  cacheThreshold: null,
};

/** The smallest call that tells whether a model answers; it costs one token of output. */
const QUESTIONS: Readonly<Record<Operation, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'ping' }], max_tokens: 1 },
  embeddings: { input: 'ping' },
};

/** A call of our own to one model, of the class that gives way to all others. */
export function probeCall(model: ModelSettings, route: RouteSettings, details: ProbeDetails): Call {
  return {
    ...details,
    traceId: details.id.replace(/\W/g, '').padEnd(32, '0').slice(0, 32),
    body: { model: model.name, ...QUESTIONS[details.operation] },
    streaming: false,
    headers: {},
    caller: PROBER,
    controls: NO_CONTROLS,
    journal: new Journal(),
    priority: 'low',
    route,
    models: [model],
  };
}
