import { exhaustedBucket, readRateLimits, retryAfterOf } from './rate-limits';

const NOW = Date.parse('2026-11-29T12:00:00Z');
const read = (headers: Record<string, string>) => readRateLimits(new Map(Object.entries(headers)), NOW);

describe('readRateLimits', () => {
  it.each([
    [
      'OpenAI',
      {
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '59',
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-limit-tokens': '150000',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0s',
      },
      {
        requests: { limit: 60, remaining: 59, resetMs: 1000 },
        tokens: { limit: 150_000, remaining: 0, resetMs: 360_000 },
        retryAfterMs: null,
      },
    ],
    [
      'Azure',
      { 'x-ratelimit-remaining-tokens': '12', 'retry-after': '2', 'retry-after-ms': '1500' },
      { tokens: { remaining: 12 }, retryAfterMs: 1500 },
    ],
    [
      'Anthropic',
      {
        'anthropic-ratelimit-requests-limit': '50',
        'anthropic-ratelimit-requests-remaining': '49',
        'anthropic-ratelimit-requests-reset': '2026-11-29T12:00:30Z',
        'anthropic-ratelimit-input-tokens-remaining': '800',
        'anthropic-ratelimit-output-tokens-remaining': '20',
        'anthropic-ratelimit-output-tokens-reset': '2026-11-29T12:01:00Z',
      },
      {
        requests: { limit: 50, remaining: 49, resetMs: 30_000 },
        tokens: { remaining: 20, resetMs: 60_000 },
        retryAfterMs: null,
      },
    ],
    [
      'plain',
      { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': String(NOW / 1000 + 5) },
      { requests: { limit: 10, remaining: 3, resetMs: 5000 }, retryAfterMs: null },
    ],
    [
      'IETF, three headers',
      { 'ratelimit-limit': '10', 'ratelimit-remaining': '3', 'ratelimit-reset': '5' },
      { requests: { limit: 10, remaining: 3, resetMs: 5000 }, retryAfterMs: null },
    ],
    [
      'IETF, one header',
      { ratelimit: 'limit=10, remaining=3, reset=5' },
      { requests: { limit: 10, remaining: 3, resetMs: 5000 }, retryAfterMs: null },
    ],
    [
      'IETF, with a policy',
      { ratelimit: '"default";r=3;t=5', 'ratelimit-policy': '"default";q=10;w=60' },
      { requests: { limit: 10, remaining: 3, resetMs: 5000 }, retryAfterMs: null },
    ],
    [
      'rubbish',
      { 'x-ratelimit-remaining-requests': 'many', 'x-ratelimit-reset-requests': 'soon', 'retry-after': '-3' },
      { retryAfterMs: null },
    ],
  ])('reads the headers of %s', (_family, headers, expected) => {
    expect(read(headers)).toEqual(expected);
  });
});

describe('the wait after a refusal', () => {
  const twoBuckets = {
    'x-ratelimit-remaining-requests': '7',
    'x-ratelimit-reset-requests': '50s',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '4s',
  };

  it('is the reset of the bucket that is used up, not of the other', () => {
    expect(exhaustedBucket(read(twoBuckets))).toBe('tokens');
    expect(retryAfterOf(read(twoBuckets), null)).toBe(4000);
    expect(retryAfterOf(read(twoBuckets), 'requests')).toBe(50_000);
  });

  it('is what the provider asks for, where it does', () => {
    expect(retryAfterOf(read({ ...twoBuckets, 'retry-after': '9' }), 'tokens')).toBe(9000);
  });

  it('is unknown without either', () => {
    expect(retryAfterOf(read({}), 'tokens')).toBeNull();
    expect(exhaustedBucket(read({}))).toBeNull();
    expect(retryAfterOf(read({ 'x-ratelimit-reset-tokens': '4s' }), null)).toBeNull();
  });
});
