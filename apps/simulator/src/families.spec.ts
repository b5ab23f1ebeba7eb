import { goDuration, limitHeaders, refusalReply } from './families';
import type { Family, Refusal } from './vendor';

const facts = { model: 'm', limit: 5, retryAfterMs: 1500, requestId: 'sim-1', now: Date.UTC(2026, 10, 29, 12, 0, 0) };

interface Body {
  type?: string;
  error: { code?: string; type?: string; message: string; param?: unknown };
}

function refuse(family: Family, refusal: Refusal): { status: number; headers: Record<string, string>; body: Body } {
  const { status, headers, json } = refusalReply(family, refusal, facts);
  return { status, headers, body: JSON.parse(json) as Body };
}

describe('refusals', () => {
  it.each<[Family, Refusal, number, string]>([
    ['openai', 'rpm', 429, 'rate_limit_exceeded'],
    ['openai', 'tpm', 429, 'rate_limit_exceeded'],
    ['openai', 'growth', 429, 'slow_down'],
    ['openai', 'overloaded', 503, 'server_is_overloaded'],
    ['openai', 'quota', 429, 'insufficient_quota'],
    ['ark', 'rpm', 429, 'ModelAccountRpmRateLimitExceeded'],
    ['ark', 'tpm', 429, 'ModelAccountTpmRateLimitExceeded'],
    ['ark', 'inflight', 429, 'InflightBatchsizeExceeded'],
    ['ark', 'growth', 429, 'RequestBurstTooFast'],
    ['ark', 'overloaded', 429, 'ServerOverloaded'],
    ['ark', 'quota', 429, 'QuotaExceeded'],
    ['ark', 'queue', 429, 'QuotaExceeded'],
    ['ark', 'set-limit', 429, 'SetLimitExceeded'],
    ['dashscope', 'rpm', 429, 'limit_requests'],
    ['dashscope', 'tpm', 429, 'insufficient_quota'],
    ['dashscope', 'growth', 429, 'limit_burst_rate'],
    ['azure', 'tpm', 429, '429'],
  ])('%s tells %s as %i %s', (family, refusal, status, code) => {
    const reply = refuse(family, refusal);
    expect(reply.status).toBe(status);
    expect(reply.body.error.code).toBe(code);
    expect(reply.body.error.message).not.toMatch(/[{}]/);
  });

  it('speaks the shape of Anthropic', () => {
    expect(refuse('anthropic', 'overloaded')).toMatchObject({
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error' } },
    });
  });

  it('names the kind of limit in the type, as OpenAI does', () => {
    expect(refuse('openai', 'rpm').body.error.type).toBe('requests');
    expect(refuse('openai', 'tpm').body.error.type).toBe('tokens');
  });

  it('tells the end of the period in the text of Ark', () => {
    expect(refuse('ark', 'quota').body.error.message).toContain('reset at 2026-11-29 12:00:01 +0000 UTC');
  });

  it('advises a wait in the way of each family, never too short a one', () => {
    expect(refuse('openai', 'rpm').headers).toEqual({ 'retry-after': '2', 'retry-after-ms': '1500' });
    expect(refuse('ark', 'growth').headers).toEqual({ 'retry-after': '2' });
    expect(refuse('dashscope', 'growth').headers).toEqual({});
    expect(refuse('none', 'rpm').headers).toEqual({});
  });
});

describe('limit headers', () => {
  const calls = { limit: 60, remaining: 59, resetMs: 17 };
  const tokens = { limit: 1000, remaining: 0, resetMs: 360_000 };

  it.each<[Family, Record<string, string>]>([
    [
      'openai',
      {
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '59',
        'x-ratelimit-reset-requests': '17ms',
        'x-ratelimit-limit-tokens': '1000',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0s',
      },
    ],
    ['azure', { 'x-ratelimit-remaining-requests': '59', 'x-ratelimit-remaining-tokens': '0' }],
    [
      'anthropic',
      {
        'anthropic-ratelimit-requests-limit': '60',
        'anthropic-ratelimit-requests-remaining': '59',
        'anthropic-ratelimit-requests-reset': '2026-11-29T12:00:01Z',
        'anthropic-ratelimit-tokens-limit': '1000',
        'anthropic-ratelimit-tokens-remaining': '0',
        'anthropic-ratelimit-tokens-reset': '2026-11-29T12:06:00Z',
      },
    ],
    ['plain', { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59', 'x-ratelimit-reset': '1' }],
    ['ark', {}],
    ['none', {}],
  ])('of %s', (family, headers) => {
    expect(limitHeaders(family, calls, tokens, facts.now)).toEqual(headers);
  });

  it('tells nothing of limits that do not exist', () => {
    expect(limitHeaders('openai', null, null, facts.now)).toEqual({});
  });
});

it.each([
  [0, '0ms'],
  [16.2, '17ms'],
  [1500, '1.5s'],
  [59_999, '59.999s'],
  [60_000, '1m0s'],
  [3_661_500, '1h1m1.5s'],
])('%d ms is %s', (ms, text) => {
  expect(goDuration(ms)).toBe(text);
});
