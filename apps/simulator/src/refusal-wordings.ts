import type { Family, Refusal } from './vendor';

/** How one refusal is told; `{model}`, `{limit}`, `{wait}`, `{seconds}`, `{reset_time}` and `{id}` are filled in. */
export interface Wording {
  readonly status: number;
  readonly code: string;
  readonly type: string;
  readonly message: string;
}

type Wordings = Readonly<Record<Refusal, Wording>>;

const wording = (status: number, code: string, type: string, message: string): Wording => ({
  status,
  code,
  type,
  message,
});

const openAiRate = (type: string, unit: string): Wording =>
  wording(
    429,
    'rate_limit_exceeded',
    type,
    `Rate limit reached for {model} on ${unit}: Limit {limit}. Please try again in {wait}.`,
  );
const openAiSpent = wording(
  429,
  'insufficient_quota',
  'insufficient_quota',
  'You exceeded your current quota, please check your plan and billing details.',
);

const openAi: Wordings = {
  rpm: openAiRate('requests', 'requests per min (RPM)'),
  tpm: openAiRate('tokens', 'tokens per min (TPM)'),
  tpd: openAiRate('tokens', 'tokens per day (TPD)'),
  inflight: openAiRate('requests', 'concurrent requests'),
  growth: wording(
    429,
    'slow_down',
    'rate_limit_error',
    'The request rate for {model} rose too quickly. Reduce it to its earlier level, hold it there, then raise it gradually.',
  ),
  overloaded: wording(
    503,
    'server_is_overloaded',
    'service_unavailable_error',
    'The servers are currently overloaded. Please try again later.',
  ),
  quota: openAiSpent,
  trial: openAiSpent,
  queue: openAiRate('requests', 'queued requests'),
  'set-limit': openAiSpent,
};

const azureRate = (unit: string): Wording =>
  wording(429, '429', '', `Requests to {model} have exceeded the ${unit} limit. Please retry after {seconds} seconds.`);
const azureSpent = wording(403, '403', '', 'The quota of this subscription is used up.');

const azure: Wordings = {
  rpm: azureRate('call rate'),
  tpm: azureRate('token rate'),
  tpd: azureRate('daily token'),
  inflight: azureRate('concurrent call'),
  growth: azureRate('growth'),
  overloaded: wording(503, 'InternalServerError', '', 'The service is temporarily unable to process your request.'),
  quota: azureSpent,
  trial: azureSpent,
  queue: azureRate('queue'),
  'set-limit': azureSpent,
};

const anthropicRate = (unit: string): Wording =>
  wording(429, 'rate_limit_error', 'rate_limit_error', `This request would exceed the limit of {limit} ${unit}.`);
const anthropicSpent = wording(
  400,
  'invalid_request_error',
  'invalid_request_error',
  'Your credit balance is too low to access the API.',
);

const anthropic: Wordings = {
  rpm: anthropicRate('requests per minute'),
  tpm: anthropicRate('tokens per minute'),
  tpd: anthropicRate('tokens per day'),
  inflight: anthropicRate('concurrent connections'),
  growth: wording(
    429,
    'rate_limit_error',
    'rate_limit_error',
    'Acceleration limit: the use rose too sharply. Ramp up gradually.',
  ),
  overloaded: wording(529, 'overloaded_error', 'overloaded_error', 'Overloaded'),
  quota: anthropicSpent,
  trial: anthropicSpent,
  queue: anthropicRate('queued requests'),
  'set-limit': anthropicSpent,
};

const arkError = (code: string, message: string): Wording =>
  wording(429, code, 'TooManyRequests', `${message} Request id: {id}`);

const ark: Wordings = {
  rpm: arkError(
    'ModelAccountRpmRateLimitExceeded',
    'Requests per minute (RPM) of {model} for this account are exceeded.',
  ),
  tpm: arkError(
    'ModelAccountTpmRateLimitExceeded',
    'Tokens per minute (TPM) of {model} for this account are exceeded.',
  ),
  tpd: arkError(
    'RateLimitExceeded.FoundationModelTPDExceeded',
    'Tokens per day (TPD) of {model} for this account are exceeded.',
  ),
  inflight: arkError('InflightBatchsizeExceeded', 'The number of requests in flight for {model} has reached {limit}.'),
  growth: arkError('RequestBurstTooFast', 'The request rate grows too fast. Slow its growth and try again.'),
  overloaded: arkError('ServerOverloaded', 'The service is currently unable to handle more requests.'),
  quota: arkError(
    'QuotaExceeded',
    'The quota of the current period is used up. It will reset at {reset_time}, or upgrade the plan.',
  ),
  trial: arkError('QuotaExceeded', 'The free trial of {model} is used up. Activate the model service to continue.'),
  queue: arkError('QuotaExceeded', 'The number of queued tasks has reached its limit. Try again later.'),
  'set-limit': arkError(
    'SetLimitExceeded',
    'The inference limit set for {model} is reached and the service is paused.',
  ),
};

const dashScopeError = (status: number, code: string, message: string): Wording => wording(status, code, code, message);
const dashScopeCalls = dashScopeError(429, 'limit_requests', 'You exceeded your current requests limit for {model}.');
// Here this code is the passing limit of tokens, not a spent account.
const dashScopeTokens = dashScopeError(429, 'insufficient_quota', 'You exceeded your current allocated token quota.');
const dashScopeSpent = dashScopeError(400, 'Arrearage', 'Access denied: the account is in arrears.');

const dashScope: Wordings = {
  rpm: dashScopeCalls,
  tpm: dashScopeTokens,
  tpd: dashScopeTokens,
  inflight: dashScopeCalls,
  growth: dashScopeError(429, 'limit_burst_rate', 'Request rate increased too quickly. Scale requests more smoothly.'),
  overloaded: dashScopeError(503, 'ModelServingError', 'Requests are throttled due to limits of the system capacity.'),
  quota: dashScopeSpent,
  trial: dashScopeSpent,
  queue: dashScopeCalls,
  'set-limit': dashScopeSpent,
};

export const REFUSALS_BY_FAMILY: Readonly<Record<Family, Wordings>> = {
  openai: openAi,
  azure,
  anthropic,
  ark,
  dashscope: dashScope,
  plain: openAi,
  none: openAi,
};
