/** Every call ends in exactly one of these: header, log field and metric label. */
export type Outcome =
  | 'cache-exact'
  | 'cache-semantic'
  | 'coalesced'
  | 'generated'
  | 'fallback-model'
  | 'fallback-response'
  | 'not-cached'
  | 'rejected-invalid'
  | 'rejected-auth'
  | 'rejected-limit'
  | 'rejected-queue-full'
  | 'expired-in-queue'
  | 'upstream-failed'
  | 'client-gone'
  | 'shutting-down';

/** How a call ended. */
export interface CallEnd {
  readonly outcome: Outcome;
  /** The status that the caller was sent; 499 where it had left before. */
  readonly status: number;
  /** Of the error that ended it; null: it was answered. */
  readonly code: string | null;
}
