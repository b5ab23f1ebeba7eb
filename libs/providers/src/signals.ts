import type { FailureKind } from './upstream-failure';

/** What a provider said in an error, in the fields that programs are meant to read. */
export interface ErrorFacts {
  /** The HTTP status, or the one an error inside of a 200 names; null: neither. */
  readonly status: number | null;
  /** Codes, types and reasons, in lower case. */
  readonly codes: readonly string[];
  readonly message: string;
  /** Of the provider's address: the same code means different things at different providers. */
  readonly host: string;
}

interface Signal {
  readonly kind: FailureKind;
  /** Any of these codes. */
  readonly codes?: readonly string[];
  readonly hosts?: RegExp;
  readonly statuses?: readonly (number | null)[];
  /** Only where a provider has no code for it; each is one documented wording. */
  readonly message?: RegExp;
}

const ALIBABA = /(?:^|\.)aliyuncs\.com$/;

/** The wordings of OpenAI and vLLM, SGLang, Anthropic (two), llama.cpp, Gemini, DashScope, Ark and Moonshot. */
const CONTEXT_LENGTH = new RegExp(
  [
    'maximum context length',
    "longer than the model's context length",
    'exceeds? (?:the )?context limit',
    'prompt is too long',
    'exceeds? the (?:available |model.s )?context (?:window|size|length)',
    'input token count .{0,40}exceeds the maximum number of tokens',
    'range of input length should be',
    'exceed max message tokens',
    'exceeded model token limit',
  ].join('|'),
  'i',
);
const REFUSED = [400, 413, 422, null];

/** The first signal that fits decides. */
const SIGNALS: readonly Signal[] = [
  { kind: 'context-length', codes: ['context_length_exceeded', 'exceed_context_size_error'] },

  // At Alibaba this is the limit of tokens per minute, over in a moment; everywhere else the account is spent.
  { kind: 'tokens', codes: ['throttling.allocationquota'] },
  { kind: 'tokens', codes: ['insufficient_quota'], hosts: ALIBABA },
  { kind: 'quota', codes: ['insufficient_quota', 'exceeded_current_quota_error'] },

  { kind: 'slope', codes: ['slow_down', 'requestbursttoofast', 'throttling.burstrate', 'limit_burst_rate'] },
  { kind: 'inflight', codes: ['inflightbatchsizeexceeded'] },
  {
    kind: 'overloaded',
    codes: ['server_is_overloaded', 'serveroverloaded', 'overloaded_error', 'engine_overloaded_error', 'overloaded'],
  },
  {
    kind: 'requests',
    codes: [
      'throttling.ratequota',
      'limit_requests',
      'modelaccountrpmratelimitexceeded',
      'modelaccountipmratelimitexceeded',
      'apiaccountrpmratelimitexceeded',
      'ratelimitexceeded.endpointrpmexceeded',
    ],
  },
  {
    kind: 'tokens',
    codes: [
      'modelaccounttpmratelimitexceeded',
      'ratelimitexceeded.endpointtpmexceeded',
      'ratelimitexceeded.endpointflextpmexceeded',
    ],
  },

  // Ark has one code for three things: only a full queue of tasks is over soon.
  { kind: 'overloaded', codes: ['quotaexceeded'], message: /queue|排队/i },
  { kind: 'quota', codes: ['quotaexceeded', 'setlimitexceeded'] },
  {
    kind: 'billing',
    codes: [
      'accountoverdueerror',
      'arrearage',
      'billing_hard_limit_reached',
      'billing_not_active',
      'insufficient_balance',
    ],
  },
  { kind: 'billing', statuses: [400], message: /you have reached your specified api usage limits/i },

  // OpenAI names the bucket in the type, beside the code rate_limit_exceeded.
  { kind: 'tokens', codes: ['tokens'], statuses: [413, 429, null] },
  { kind: 'requests', codes: ['requests'], statuses: [429, null] },
  {
    kind: 'rate-limit',
    codes: [
      'rate_limit_exceeded',
      'rate_limit_error',
      'rate_limit_reached_error',
      'ratelimitreached',
      'accountratelimitexceeded',
      'throttling',
      'resource_exhausted',
      'too_many_requests',
    ],
  },
  {
    kind: 'auth',
    codes: ['invalid_api_key', 'api_key_invalid', 'invalidapikey', 'authentication_error', 'account_deactivated'],
  },
  { kind: 'context-length', statuses: REFUSED, message: CONTEXT_LENGTH },

  { kind: 'unknown-model', statuses: [404], codes: ['model_not_found'] },

  { kind: 'billing', statuses: [402] },
  { kind: 'auth', statuses: [401, 403] },
  { kind: 'timeout', statuses: [408] },
  { kind: 'rate-limit', statuses: [429] },
  { kind: 'overloaded', statuses: [529] },
  { kind: 'caller-fault', statuses: [null], codes: ['invalid_request_error'] },
  { kind: 'auth', statuses: [null], codes: ['permission_error'] },
  { kind: 'server', statuses: [null], codes: ['server_error', 'api_error', 'internal_server_error', 'internal_error'] },
];

/** What an error means for the chain, decided by codes first, then by the status. */
export function kindOf(facts: ErrorFacts): FailureKind {
  const signal = SIGNALS.find(candidate => fits(candidate, facts));
  if (signal) return signal.kind;
  if (facts.status === null) return 'stream-error';
  if (facts.status >= 500) return 'server';
  return facts.status >= 400 ? 'caller-fault' : 'protocol';
}

function fits(signal: Signal, { status, codes, message, host }: ErrorFacts): boolean {
  if (signal.statuses && !signal.statuses.includes(status)) return false;
  if (signal.codes && !signal.codes.some(code => codes.includes(code))) return false;
  if (signal.hosts && !signal.hosts.test(host)) return false;
  return !signal.message || signal.message.test(message);
}
