import type { CacheTier, Decision, HedgeOutcome, Resemblance } from './decision';
import type { Outcome } from './outcome';
import type { Priority } from './priority';
import type { CacheRule } from './settings';
import type { Usage } from './usage';

export type CacheStatus = 'HIT' | 'SEMANTIC_HIT' | 'COALESCED' | 'MISS' | 'BYPASS';
export type Degradation = 'fallback-model' | 'fallback-response' | 'stale';

/** A limit of a minute of the caller, after this call was counted. */
export interface CallerLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until all of it is free again, if nothing more is called. */
  readonly resetMs: number;
}

/** Where both the key and the user are limited, the one with less left. */
interface CallerLimits {
  readonly requests: CallerLimit | null;
  readonly tokens: CallerLimit | null;
}

/** What the log tells of an answer without keeping it. */
export interface AnswerDigest {
  /** The first 16 hexadecimal digits of SHA-256. */
  readonly hash: string;
  /** First and last characters. */
  readonly snippet: string;
}

/**
 * What happened to one call so far. The only mutable thing that travels with a call: stages note facts, the edge
 * turns them into headers, metrics and the log line, also when the call ends in an error.
 */
export class Journal {
  route: string | null = null;
  /** What metrics call the route; names that callers invent never become labels. */
  routeLabel = 'none';
  priority: Priority | null = null;
  /** Set when the caller asked for a class above what its key may use. */
  requestedPriority: Priority | null = null;
  cache: CacheStatus = 'BYPASS';
  /** Null: the answer is not a cached one. */
  cacheTier: CacheTier | null = null;
  /** The rule that kept this call from all but the exact cache. */
  cacheRule: CacheRule | null = null;
  /** The question, asked before, that was served, or the nearest that was not; null: none was near. */
  resemblance: Resemblance | null = null;
  /** When a cached answer was made, in milliseconds since the epoch; null: the answer is not a cached one. */
  madeAt: number | null = null;
  model: string | null = null;
  /** Upstream calls made for this request. */
  attempts = 0;
  queueMs = 0;
  /** Whether a turn was asked of this process alone, because Redis was lost: by its share of the limits. */
  limitsAreLocal = false;
  upstreamMs: number | null = null;
  firstContentMs: number | null = null;
  /** What came of asking a second model beside the first; null: the first did not take long enough for it. */
  hedge: HedgeOutcome | null = null;
  degraded: Degradation | null = null;
  /** What the last model that was asked reported for this call; zero tokens where it refused. */
  usage: Usage | null = null;
  /** What a cached answer had cost when it was made. */
  saved: Usage | null = null;
  /** Of a cached answer, which was looked into when it was kept. */
  digest: AnswerDigest | null = null;
  /** Null: the caller has no limits. */
  callerLimits: CallerLimits | null = null;
  outcome: Outcome | null = null;
  /** What was decided, in order. A copy of a journal shares it, so that work done for several calls is noted once. */
  readonly decisions: Decision[] = [];

  /** Whole seconds from when a cached answer was made until `now`, in milliseconds since the epoch. */
  ageS(now: number): number | null {
    return this.madeAt === null ? null : Math.max(0, Math.floor((now - this.madeAt) / 1000));
  }

  note(decision: Decision): void {
    this.decisions.push(decision);
  }
}
