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
