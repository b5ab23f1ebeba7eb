import type { Observed, ObservedBucket, ObservedLimits } from '@spillway/contracts';
import type { UpstreamFailure } from '@spillway/providers';

/** What the head of an answer told of limits, and when. */
export interface Seen {
  readonly limits: ObservedLimits | null;
  readonly at: number;
}

/** What an attempt that ends `now` has learned of the limits of its model; undefined: nothing. */
export function observedIn(seen: Seen | null, failure: UpstreamFailure | null, now: number): Observed | undefined {
  const overload = failure?.overload ?? null;
  // One whose quota is spent is not waited for.
  const retryAfterMs = failure?.passes ? failure.retryAfterMs : null;
  const limits = failure?.limits ?? (seen?.limits ? aged(seen.limits, now - seen.at) : null);
  if (overload === null && retryAfterMs === null && limits === null) return undefined;
  return { overload, retryAfterMs, limits };
}

/** The same limits `ms` later; a bucket that is full again by then tells nothing. */
function aged({ requests, tokens }: ObservedLimits, ms: number): ObservedLimits | null {
  const later = { ...rest('requests', requests, ms), ...rest('tokens', tokens, ms) };
  return later.requests || later.tokens ? later : null;
}

function rest(name: 'requests' | 'tokens', bucket: ObservedBucket | undefined, ms: number): ObservedLimits {
  if (bucket === undefined) return {};
  if (bucket.resetMs === undefined) return { [name]: bucket };
  return bucket.resetMs > ms ? { [name]: { ...bucket, resetMs: bucket.resetMs - ms } } : {};
}
