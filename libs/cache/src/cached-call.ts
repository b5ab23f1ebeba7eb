import type { Call } from '@spillway/contracts';

/** A call that knows under which key its answer is kept. */
export interface CachedCall extends Call {
  /** Null where answers are never shared. */
  readonly cacheKey: string | null;
}
