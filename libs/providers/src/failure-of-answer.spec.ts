import { failureOfAnswer } from './failure-of-answer';
import type { FailureKind } from './upstream-failure';

const NOW = Date.parse('2026-11-29T12:00:00Z');
const PLAIN = 'api.example.com';

interface Said {
  readonly status: number | null;
  readonly body: unknown;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cut?: boolean;
}

function failureOf({ status, body, host = PLAIN, headers = {}, cut = false }: Said) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = { status, text, headers: new Map(Object.entries(headers)), cut };
  return failureOfAnswer(answer, { host, secrets: ['UPSTREAM_KEY_1'] }, NOW);
}

const error = (code: unknown, message = 'said the provider', type: unknown = null) => ({
  error: { message, type, param: null, code },
});

describe('the kind of a failure', () => {
  it.each<[number, unknown, FailureKind]>([
    // OpenAI
    [429, error('rate_limit_exceeded', 'Rate limit reached', 'requests'), 'requests'],
    [429, error('rate_limit_exceeded', 'Rate limit reached', 'tokens'), 'tokens'],
    [413, error('rate_limit_exceeded', 'Request too large', 'tokens'), 'tokens'],
    [429, error('rate_limit_exceeded'), 'rate-limit'],
    [429, error('slow_down'), 'slope'],
    [503, error('slow_down'), 'slope'],
    [503, error('server_is_overloaded'), 'overloaded'],
    [429, error('insufficient_quota', 'You exceeded your current quota', 'insufficient_quota'), 'quota'],
    [400, error('billing_hard_limit_reached'), 'billing'],
    [401, error('invalid_api_key', 'Incorrect API key', 'invalid_request_error'), 'auth'],
    // Alibaba
    [429, error('Throttling.RateQuota'), 'requests'],
    [429, error('limit_requests'), 'requests'],
    [429, error('Throttling.AllocationQuota'), 'tokens'],
    [429, error('Throttling.BurstRate'), 'slope'],
    [429, error('limit_burst_rate', 'Request rate increased too quickly'), 'slope'],
    [429, { code: 'Throttling', message: 'Requests throttling triggered.' }, 'rate-limit'],
    // Ark
    [429, error('ModelAccountRpmRateLimitExceeded'), 'requests'],
    [429, error('ModelAccountTpmRateLimitExceeded'), 'tokens'],
    [429, error('ModelAccountIpmRateLimitExceeded'), 'requests'],
    [429, error('RateLimitExceeded.EndpointRPMExceeded'), 'requests'],
    [429, error('RateLimitExceeded.EndpointTPMExceeded'), 'tokens'],
    [429, error('RateLimitExceeded.EndpointFlexTPMExceeded'), 'tokens'],
    [429, error('APIAccountRpmRateLimitExceeded'), 'requests'],
    [429, error('AccountRateLimitExceeded'), 'rate-limit'],
    [429, error('InflightBatchsizeExceeded'), 'inflight'],
    [429, error('RequestBurstTooFast'), 'slope'],
    [429, error('ServerOverloaded'), 'overloaded'],
    [429, error('QuotaExceeded', 'Your free trial quota is used up'), 'quota'],
    [429, error('QuotaExceeded', 'The number of queued tasks is full, try later'), 'overloaded'],
    [429, error('QuotaExceeded', 'The weekly quota is used up. It resets at 2026-12-01 00:00:00'), 'quota'],
    [429, error('SetLimitExceeded'), 'quota'],
    // Others
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'overloaded'],
    [429, { type: 'error', error: { type: 'rate_limit_error', message: 'slower' } }, 'rate-limit'],
    [429, [{ error: { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED' } }], 'rate-limit'],
    [400, { error: { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] } }, 'auth'],
    [429, { status: 429, error: 'INSUFFICIENT QUOTA', message: 'You exceeded your current limit.' }, 'rate-limit'],
    [400, error(null, 'You have reached your specified API usage limits. Come back on 2026-12-01'), 'billing'],
    [402, error(402, 'Insufficient credits'), 'billing'],
    // By status alone
    [400, error(null, 'messages: field required', 'invalid_request_error'), 'caller-fault'],
    [404, error('model_not_found'), 'unknown-model'],
    [404, error('not_found'), 'caller-fault'],
    [405, '', 'caller-fault'],
    [409, '', 'caller-fault'],
    [413, 'too large', 'caller-fault'],
    [415, '', 'caller-fault'],
    [422, error(null), 'caller-fault'],
    [451, '', 'caller-fault'],
    [401, '', 'auth'],
    [403, '{"error":null}', 'auth'],
    [408, '', 'timeout'],
    [429, '<html>', 'rate-limit'],
    [500, 'null', 'server'],
    [502, '[]', 'server'],
    [504, '"gateway timeout"', 'server'],
    [301, '', 'protocol'],
  ])('of %p %j is %p', (status, body, kind) => {
    expect(failureOf({ status, body })).toMatchObject({ kind, status });
  });

  it.each([['dashscope.aliyuncs.com'], ['dashscope-intl.aliyuncs.com']])(
    'of insufficient_quota is a passing limit at %s',
    host => {
      expect(failureOf({ status: 429, body: error('insufficient_quota'), host }).kind).toBe('tokens');
      expect(failureOf({ status: 429, body: error('insufficient_quota'), host: `${host}.evil.com` }).kind).toBe(
        'quota',
      );
    },
  );

  it.each([
    [error('context_length_exceeded', "This model's maximum context length is 8192 tokens.", 'invalid_request_error')],
    [{ object: 'error', message: "This model's maximum context length is 32768 tokens. You asked 33077", code: 400 }],
    [{ object: 'error', message: "The input (12345 tokens) is longer than the model's context length (8192 tokens)." }],
    [
      {
        error: { type: 'invalid_request_error', message: 'input length and `max_tokens` exceed context limit: 179413' },
      },
    ],
    [{ error: { type: 'invalid_request_error', message: 'prompt is too long: 209303 tokens > 200000 maximum' } }],
    [{ error: { type: 'exceed_context_size_error', message: 'the request exceeds the available context size' } }],
    [
      {
        error: {
          status: 'INVALID_ARGUMENT',
          message: 'The input token count (9) exceeds the maximum number of tokens',
        },
      },
    ],
    [{ code: 'InvalidParameter', message: 'Range of input length should be [1, 129024]' }],
  ])('of %j is the length of the context', body => {
    expect(failureOf({ status: 400, body })).toMatchObject({
      kind: 'context-length',
      successor: 'larger',
      health: { effect: 'none' },
    });
  });

  it.each<[unknown, FailureKind, number | null]>([
    [{ error: { code: 502, message: 'provider_unavailable' }, choices: [] }, 'server', 502],
    [{ error: { code: '429', message: 'slower' } }, 'rate-limit', 429],
    [{ error: { code: 'context_length_exceeded', message: 'too long' } }, 'context-length', null],
    [{ error: { type: 'invalid_request_error', message: 'bad' } }, 'caller-fault', null],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'overloaded', null],
    [{ error: { type: 'server_error', message: 'oops' } }, 'server', null],
    [{ error: 'something' }, 'stream-error', null],
  ])('inside of a 200 of %j is %p', (body, kind, status) => {
    expect(failureOf({ status: null, body })).toMatchObject({ kind, status });
  });

  it('is about the bucket that is used up, where the error names none', () => {
    const headers = { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '4s' };
    expect(failureOf({ status: 429, body: error('rate_limit_exceeded'), headers })).toMatchObject({
      kind: 'tokens',
      retryAfterMs: 4000,
    });
  });
});

describe('the consequences of a failure', () => {
  it.each<[FailureKind, Said, string, boolean, string, string]>([
    ['requests', { status: 429, body: error('limit_requests') }, 'any', true, 'busy', 'none'],
    ['quota', { status: 429, body: error('insufficient_quota') }, 'any', false, 'busy', 'bar'],
    ['billing', { status: 402, body: '' }, 'any', false, 'credentials', 'bar'],
    ['auth', { status: 401, body: '' }, 'any', false, 'credentials', 'bar'],
    ['unknown-model', { status: 404, body: error('model_not_found') }, 'nobody', false, 'refusal', 'bar'],
    ['server', { status: 500, body: '' }, 'any', true, 'broken', 'failure'],
    ['caller-fault', { status: 422, body: '' }, 'nobody', false, 'refusal', 'none'],
  ])('%s', (kind, said, successor, passes, family, health) => {
    expect(failureOf(said)).toMatchObject({ kind, successor, passes, family, health: { effect: health } });
  });

  it('honours retry-after on any status', () => {
    expect(failureOf({ status: 503, body: '', headers: { 'retry-after': '7' } }).retryAfterMs).toBe(7000);
    expect(failureOf({ status: 500, body: '', headers: { 'retry-after': 'soon' } }).retryAfterMs).toBeNull();
  });

  it('reads the end of a spent quota from its message', () => {
    const body = error('QuotaExceeded', 'The 5-hour quota is used up. It resets at 2026-11-29 22:00:00 +0800 CST');
    expect(failureOf({ status: 429, body }).retryAfterMs).toBe(2 * 3_600_000);
  });
});

describe('the answer to pass on', () => {
  it('is what the model said, without secrets', () => {
    const body = error(null, 'bad key AIzaSyFAKEFAKEFAKEFAKE and UPSTREAM_KEY_1');
    const answer = failureOf({ status: 400, body, headers: { 'content-type': 'application/json' } }).answer;
    expect(answer).toEqual({
      status: 400,
      text: JSON.stringify(error(null, 'bad key [redacted] and [redacted]')),
      contentType: 'application/json',
    });
  });

  it.each<[string, Said]>([
    ['HTML by its look', { status: 404, body: ' <!doctype html><h1>nginx</h1>' }],
    ['HTML by its type', { status: 404, body: 'nginx', headers: { 'content-type': 'text/html' } }],
    ['nothing', { status: 404, body: '' }],
    ['the beginning of something', { status: 404, body: '{"error":{"mess', cut: true }],
  ])('is an error of our own instead of %s', (_name, said) => {
    const answer = failureOf(said).answer;
    expect(answer?.status).toBe(404);
    expect(JSON.parse(answer?.text ?? '')).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('has a message that repeats nothing a model said in words', () => {
    const failure = failureOf({ status: 502, body: '<html>key=sk-secret</html>' });
    expect(failure.message).toBe('The model answered 502.');
    expect(failureOf({ status: 400, body: error('sk-abcdef123456') }).message).not.toContain('abcdef');
  });
});
