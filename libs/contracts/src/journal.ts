import type { Outcome } from './outcome';
import type { Priority } from './priority';

export type CacheStatus = 'HIT' | 'SEMANTIC_HIT' | 'COALESCED' | 'MISS' | 'BYPASS';
export type Degradation = 'fallback-model' | 'fallback-response' | 'stale';

export interface Usage {
  readonly input: number;
  readonly output: number;
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
  /** Seconds since a cached answer was made. */
  ageS: number | null = null;
  model: string | null = null;
  /** Upstream calls made for this request. */
  attempts = 0;
  queueMs = 0;
  upstreamMs: number | null = null;
  firstContentMs: number | null = null;
  degraded: Degradation | null = null;
  /** What the model reported for this call. */
  usage: Usage | null = null;
  /** What a cached answer had cost when it was made. */
  saved: Usage | null = null;
  /** Of a cached answer, which was looked into when it was kept. */
  digest: AnswerDigest | null = null;
  outcome: Outcome | null = null;
}
