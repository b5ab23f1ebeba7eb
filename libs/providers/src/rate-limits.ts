import type { ObservedBucket, ObservedLimits } from '@spillway/contracts';
import { providerNow } from './provider-time';
import { parseReset, parseRetryAfter, parseRetryAfterMs } from './reset-times';

/** Lower-case names. */
export type Headers = ReadonlyMap<string, string>;

export interface RateLimits extends ObservedLimits {
  /** Milliseconds; null: not said. */
  readonly retryAfterMs: number | null;
}

type Bucket = 'requests' | 'tokens';
type Field = 'limit' | 'remaining' | 'reset';

/** Header names of the families, best first: OpenAI and Azure, Anthropic, then the plain and the IETF ones. */
const FAMILIES: readonly { readonly bucket: Bucket; readonly name: (field: Field) => string }[] = [
  { bucket: 'requests', name: field => `x-ratelimit-${field}-requests` },
  { bucket: 'tokens', name: field => `x-ratelimit-${field}-tokens` },
  { bucket: 'requests', name: field => `anthropic-ratelimit-requests-${field}` },
  { bucket: 'tokens', name: field => `anthropic-ratelimit-tokens-${field}` },
  { bucket: 'tokens', name: field => `anthropic-ratelimit-input-tokens-${field}` },
  { bucket: 'tokens', name: field => `anthropic-ratelimit-output-tokens-${field}` },
  { bucket: 'requests', name: field => `x-ratelimit-${field}` },
  { bucket: 'requests', name: field => `ratelimit-${field}` },
];

const NAMES = FAMILIES.map(({ bucket, name }) => ({
  bucket,
  limit: name('limit'),
  remaining: name('remaining'),
  reset: name('reset'),
}));

/** The limits that an answer tells of; null, and next to no work, where it tells of none. */
export function observedLimits(headers: Headers, now: number): ObservedLimits | null {
  for (const name of headers.keys()) if (name.includes('ratelimit')) return bucketsOf(readRateLimits(headers, now));
  return null;
}

/** The limits without the wait, which is told apart; null: there are none. */
export function bucketsOf({ requests, tokens }: RateLimits): ObservedLimits | null {
  return requests || tokens ? { ...(requests && { requests }), ...(tokens && { tokens }) } : null;
}

/**
 * Reads the limits an answer carries, whatever family of headers its provider uses. Times of day are spans from the
 * provider's own time where the answer tells it and ours is another.
 */
export function readRateLimits(headers: Headers, ourNow: number): RateLimits {
  const now = providerNow(headers, ourNow);
  const states: Partial<Record<Bucket, ObservedBucket>> = {};
  for (const names of NAMES) {
    const state = readState(headers, names, now);
    if (state) states[names.bucket] = tighter(states[names.bucket], state);
  }
  const combined = states.requests ?? readCombined(headers, now);
  return {
    ...(combined && { requests: combined }),
    ...(states.tokens && { tokens: states.tokens }),
    retryAfterMs: parseRetryAfterMs(headers.get('retry-after-ms')) ?? parseRetryAfter(headers.get('retry-after'), now),
  };
}

/** The one bucket that is used up; null where none or both are. */
export function exhaustedBucket(limits: RateLimits): Bucket | null {
  const requests = limits.requests?.remaining === 0;
  const tokens = limits.tokens?.remaining === 0;
  return requests === tokens ? null : requests ? 'requests' : 'tokens';
}

/** Milliseconds to wait after a refusal: as asked, else until the bucket that refused is full again. */
export function retryAfterOf(limits: RateLimits, bucket: Bucket | null): number | null {
  if (limits.retryAfterMs !== null) return limits.retryAfterMs;
  const refusing = bucket ? [limits[bucket]] : [limits.requests, limits.tokens].filter(state => state?.remaining === 0);
  return Math.max(0, ...refusing.map(state => state?.resetMs ?? 0)) || null;
}

function readState(
  headers: Headers,
  names: { readonly limit: string; readonly remaining: string; readonly reset: string },
  now: number,
): ObservedBucket | null {
  return stateOf(
    parseCount(headers.get(names.limit)),
    parseCount(headers.get(names.remaining)),
    parseReset(headers.get(names.reset), now),
  );
}

/** The IETF drafts in one header: `limit=100, remaining=50, reset=5` and `"default";r=50;t=30`. */
function readCombined(headers: Headers, now: number): ObservedBucket | null {
  const value = headers.get('ratelimit');
  if (value === undefined) return null;
  const policy = headers.get('ratelimit-policy') ?? '';
  const field = (text: string, name: string): string | undefined =>
    new RegExp(`(?:^|[,; ])${name}=(\\d+)`).exec(text)?.[1];
  return stateOf(
    parseCount(field(value, 'limit') ?? field(policy, 'q')),
    parseCount(field(value, 'remaining') ?? field(value, 'r')),
    parseReset(field(value, 'reset') ?? field(value, 't'), now),
  );
}

function stateOf(limit: number | null, remaining: number | null, resetMs: number | null): ObservedBucket | null {
  if (limit === null && remaining === null && resetMs === null) return null;
  return {
    ...(limit !== null && { limit }),
    ...(remaining !== null && { remaining }),
    ...(resetMs !== null && { resetMs }),
  };
}

/** Of two reports on one bucket (input and output tokens, say) the one with less left binds. */
function tighter(one: ObservedBucket | undefined, other: ObservedBucket): ObservedBucket {
  if (!one) return other;
  return (other.remaining ?? Infinity) < (one.remaining ?? Infinity) ? other : one;
}

function parseCount(value: string | undefined): number | null {
  return value !== undefined && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : null;
}
