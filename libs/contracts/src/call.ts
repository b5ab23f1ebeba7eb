import type { CallSignal } from './call-signal';
import type { PriorityControl } from './decision';
import type { Journal } from './journal';
import type { JsonObject } from './json';
import type { Priority } from './priority';
import type { ModelSettings, RouteSettings } from './settings';

export type Operation = 'chat' | 'embeddings';

/** Who is calling: a configured key, or the anonymous caller of a loopback address. */
export interface Caller {
  /** The key's configured name, `anonymous` without keys. Never the key itself. */
  readonly name: string;
  readonly priority: Priority;
  readonly max_priority: Priority;
  /** Routes and models this caller may use; null: all. */
  readonly routes: readonly string[] | null;
  /** Keys of one team may share cached answers; null: a key without one. */
  readonly team: string | null;
  /** True for a call of ours in the name of a key, which uses none of what the key may use. */
  readonly exempt?: boolean;
}

/** Spillway itself, as the least of callers. */
export function ownCaller(name: string): Caller {
  return { name, team: null, priority: 'low', max_priority: 'low', routes: null };
}

/** The controls of a request, parsed and checked; absent ones are null. */
export interface Controls {
  readonly priority: Priority | null;
  /** Which control says so; null with `priority`. */
  readonly priorityBy: PriorityControl | null;
  readonly maxWaitMs: number | null;
  readonly deadlineMs: number | null;
  readonly scope: string;
  readonly user: string | null;
  readonly cacheRead: boolean;
  readonly cacheWrite: boolean;
  /** A kept answer or none: no model is asked. */
  readonly onlyIfCached: boolean;
  readonly cacheLevel: 'off' | 'exact' | 'semantic' | null;
  readonly cacheTtlS: number | null;
  readonly cacheThreshold: number | null;
}

/** What a call shares with no other. */
export interface CallIdentity {
  /** The request id, safe in headers, logs and keys. */
  readonly id: string;
  readonly traceId: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** A request as the edge hands it in: parsed and authenticated, not yet classified. */
export interface IncomingCall extends CallIdentity {
  readonly operation: Operation;
  /** The body as the caller sent it; forwarded but for what routing must change. */
  readonly body: JsonObject;
  readonly streaming: boolean;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly caller: Caller;
  readonly controls: Controls;
  /** Aborted with a SpillwayError as its reason when the caller leaves or the process must stop. */
  readonly signal: CallSignal;
  readonly journal: Journal;
  /** The text of an answer that is known beforehand: no model is asked. Absent on all but seeds. */
  readonly given?: string | undefined;
  /** Takes the call as a job, to be answered later; false: it cannot. Absent where the caller does not want that. */
  readonly defer?: (() => Promise<boolean>) | undefined;
}

/** A classified call: what it is for, how important it is and until when it makes sense. */
export interface Call extends IncomingCall {
  readonly priority: Priority;
  readonly route: RouteSettings;
  /** The chain for this class, best first, never empty. */
  readonly models: readonly ModelSettings[];
  /** Milliseconds since the epoch until which it may wait for a turn. */
  readonly turnBy: number;
  /** Milliseconds since the epoch until which its first content (a stream) or all of it must be there; absent: any time. */
  readonly answerBy?: number;
}

/** What a call asks, and where that may be compared with what others ask. */
export interface Question {
  /** The text of the last message, as it was sent. */
  readonly text: string;
  /** Equal for requests that differ in nothing but the text. */
  readonly fingerprint: string;
  /** Whose answers may be shared. */
  readonly namespace: string;
  /** Changes when answers of this route or scope are cleared. */
  readonly generation: string;
}

/** A call that knows under which key its answer is kept. */
export interface KeyedCall extends Call {
  /** Null where answers are never shared. */
  readonly cacheKey: string | null;
  /** The key that it shares with the same question in other function words; absent or null where there is none. */
  readonly canonicalKey?: string | null;
  /** Absent or null where it is not to be compared. */
  readonly question?: Question | null;
  /** What it asks as numbers; absent or null where nothing was looked up by them. */
  readonly vector?: Float32Array | null;
}
