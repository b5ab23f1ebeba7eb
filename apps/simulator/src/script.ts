import { isJsonObject, type JsonObject, type JsonValue } from '@spillway/contracts';
import { lastUserText } from './tokens';

/** Which requests a step is for; every condition that is given must hold. */
interface StepMatch {
  /** The last message of the user, exactly. */
  readonly last_user?: string;
  readonly model?: string;
  /** Header values, exactly; names in lower case. */
  readonly header?: Readonly<Record<string, string>>;
  /** A part of the body as it was sent. */
  readonly body_has?: string;
  readonly raw_body_has?: string;
  /** Fields of the body: equal, `'*'`: there, `null`: absent or null. */
  readonly json?: JsonObject;
  readonly json_not?: JsonObject;
  /** A path such as `messages[0].name` that the body must not have. */
  readonly json_path_missing?: string;
}

/** What is written in the place of an event; one of these. */
export interface SpecialItem {
  readonly raw?: string;
  readonly b64?: string;
  readonly sleep?: number;
  readonly drip?: { readonly count: number; readonly every_ms: number; readonly text: string };
  /** An event with a text of this length. */
  readonly gen_text?: number;
  /** This many events with a text. */
  readonly gen_chunks?: number;
  readonly raw_gen?: { readonly prefix: string; readonly char: string; readonly n: number };
}

/** An event is any other object. */
export type SseItem = '[DONE]' | JsonObject | SpecialItem;

/** One scripted answer. */
export interface Step {
  readonly match?: StepMatch;
  /** How often it is used: with `match` no limit by default, else once; the last one repeats. */
  readonly times?: number;
  readonly status?: number;
  /** `'@httpdate+2s'` becomes the HTTP date two seconds from now. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: JsonValue;
  readonly text?: string;
  readonly text_gen?: { readonly char: string; readonly n: number };
  readonly body_parts?: readonly (
    { readonly text: string } | { readonly json: JsonValue } | { readonly sleep: number }
  )[];
  readonly sse?: readonly SseItem[];
  readonly frame?: 'lf' | 'crlf' | 'cr' | 'nospace' | 'multiline';
  /** Bytes per write. */
  readonly split?: number;
  readonly gap_ms?: number;
  readonly ttfb_ms?: number;
  readonly gzip?: boolean;
  readonly end?: 'close' | 'reset' | 'hang';
  readonly no_response?: 'hang' | 'reset' | 'refuse';
  readonly keepalive_close_after_ms?: number;
  /** Answers an embedding call as usual, with `dim` dimensions. */
  readonly embed_ok?: boolean;
  readonly dim?: number;
}

const STEP_KEYS: Readonly<Record<keyof Step, true>> = {
  match: true,
  times: true,
  status: true,
  headers: true,
  json: true,
  text: true,
  text_gen: true,
  body_parts: true,
  sse: true,
  frame: true,
  split: true,
  gap_ms: true,
  ttfb_ms: true,
  gzip: true,
  end: true,
  no_response: true,
  keepalive_close_after_ms: true,
  embed_ok: true,
  dim: true,
};

/** A script that cannot be played. */
export class InvalidScript extends Error {
  readonly code = 'invalid_script';
}

/** Checks steps that came in as JSON. */
export function parseSteps(value: unknown): Step[] {
  if (!Array.isArray(value)) throw new InvalidScript('a script is a list of steps');
  for (const [index, step] of value.entries()) {
    if (!isJsonObject(step)) throw new InvalidScript(`step ${index} is not an object`);
    const unknown = Object.keys(step).find(key => !Object.hasOwn(STEP_KEYS, key));
    if (unknown !== undefined) throw new InvalidScript(`step ${index} has the unknown key ${unknown}`);
  }
  return value as Step[];
}

/** A request as a script looks at it. */
export interface ScriptedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: JsonObject | null;
}

/** Hands out steps: the first that matches, else the next one without a condition, of which the last repeats. */
export class Script {
  private readonly used = new Map<Step, number>();

  constructor(private readonly steps: readonly Step[]) {}

  /** null: no step is for this request. */
  pick(request: ScriptedRequest): Step | null {
    const unconditional = this.steps.filter(step => step.match === undefined);
    const step =
      this.steps.find(
        candidate =>
          candidate.match !== undefined &&
          this.isLeft(candidate, candidate.times ?? Infinity) &&
          matches(candidate.match, request),
      ) ??
      unconditional.find(candidate => this.isLeft(candidate, candidate.times ?? 1)) ??
      unconditional.at(-1);
    if (step === undefined) return null;
    this.used.set(step, (this.used.get(step) ?? 0) + 1);
    return step;
  }

  private isLeft(step: Step, times: number): boolean {
    return (this.used.get(step) ?? 0) < times;
  }
}

function matches(match: StepMatch, { headers, text, body }: ScriptedRequest): boolean {
  return (
    has(text, match.body_has) &&
    has(text, match.raw_body_has) &&
    (match.model === undefined || body?.['model'] === match.model) &&
    (match.last_user === undefined || (body !== null && lastUserText(body) === match.last_user)) &&
    (match.json === undefined || contains(body, match.json)) &&
    (match.json_not === undefined || !contains(body, match.json_not)) &&
    (match.json_path_missing === undefined || at(body, match.json_path_missing) === undefined) &&
    Object.entries(match.header ?? {}).every(([name, value]) => headers[name.toLowerCase()] === value)
  );
}

function has(text: string, part: string | undefined): boolean {
  return part === undefined || text.includes(part);
}

function contains(body: JsonObject | null, wanted: JsonObject): boolean {
  return Object.entries(wanted).every(([key, value]) => {
    const own = body?.[key];
    if (value === '*') return own !== undefined;
    if (value === null) return own === null || own === undefined;
    return JSON.stringify(own) === JSON.stringify(value);
  });
}

function at(body: JsonObject | null, path: string): unknown {
  const keys = path.replace(/\[(\d+)\]/g, '.$1').split('.');
  return keys.reduce<unknown>(
    (value, key) => (value === null || value === undefined ? undefined : (value as Record<string, unknown>)[key]),
    body,
  );
}
