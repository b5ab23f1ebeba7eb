import type { CachedAnswer } from './cached-answer';

/** Keeps answers by request key until they expire. Never fails: trouble is a miss, or an answer that is not kept. */
export abstract class ExactStore {
  /** What this process itself keeps under `key`, without waiting for anybody. */
  abstract atHand(key: string): CachedAnswer | null;

  /** What is kept under `key` and has not expired. */
  abstract get(key: string): Promise<CachedAnswer | null>;

  /** What is kept under `key`, also after it has expired. */
  abstract getStale(key: string): Promise<CachedAnswer | null>;

  /** Keeps `answer` until it expires, or for as long after that as it says; what was there is replaced. */
  abstract set(key: string, answer: CachedAnswer): Promise<void>;
}
