import type { CallSignal } from './call-signal';
import type { Caller } from './call';
import type { JsonObject } from './json';
import type { Journal } from './journal';
import type { Outcome } from './outcome';
import type { Priority } from './priority';

/** A chat call that no client waits for with an open socket: a job, a seed, a judgement, a probe. */
export interface Errand {
  /** A whole answer comes back, whatever the body says of streams. */
  readonly body: JsonObject;
  /** On whose behalf: whose limits, routes and cache it uses. */
  readonly caller: Caller;
  /** Wins over what the headers say, as the path of a request does. */
  readonly priority?: Priority;
  /** Request controls, spelled as a client would; lower-case names. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The text of the answer, known beforehand: no model is asked. */
  readonly given?: string | undefined;
  /** Default: a new one. */
  readonly id?: string;
  readonly traceId?: string;
  /** Aborted with a SpillwayError as its reason; default: never. */
  readonly signal?: CallSignal;
}

export interface ErrandEnd {
  readonly body: JsonObject;
  readonly outcome: Outcome;
  readonly journal: Journal;
}

/** Walks the whole path of a call without a client: same limits, caches, priorities, metrics and log. */
export abstract class Errands {
  /** @throws SpillwayError as a client would be told. */
  abstract run(errand: Errand): Promise<ErrandEnd>;
}
