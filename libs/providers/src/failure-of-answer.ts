import { isJsonObject, type JsonObject, type JsonValue } from '@spillway/contracts';
import { bucketsOf, exhaustedBucket, readRateLimits, retryAfterOf, type Headers, type RateLimits } from './rate-limits';
import { findResetInText } from './reset-times';
import { clearSecrets } from './secrets';
import { kindOf, type ErrorFacts } from './signals';
import { UpstreamFailure, type FailureAnswer, type FailureKind } from './upstream-failure';

/** An error as it came: an answer that is no 2xx, or the text of an error inside of a 200 (status null). */
export interface ErrorAnswer {
  readonly status: number | null;
  readonly headers: Headers;
  readonly text: string;
  /** Whether `text` is only the beginning. */
  readonly cut: boolean;
}

/** Who answered, as far as it changes the meaning of an answer. */
export interface AnsweredBy {
  readonly host: string;
  readonly secrets: readonly (string | undefined)[];
}

/** Said instead of an answer that is empty, cut off or no text for a program. */
const SILENT_REFUSAL =
  '{"error":{"message":"The model refused the request.","type":"invalid_request_error","param":null,"code":null}}';
const JSON_TYPE = 'application/json';

/** Classifies an error of a model. */
export function failureOfAnswer(answer: ErrorAnswer, by: AnsweredBy, now: number): UpstreamFailure {
  const facts = factsOf(answer, by.host);
  const limits = readRateLimits(answer.headers, now);
  const kind = precise(kindOf(facts), limits);
  const code = facts.codes.find(candidate => /^[\w.-]{1,64}$/.test(candidate));
  const said = code ? ` (${clearSecrets(code, by.secrets)})` : '';
  return new UpstreamFailure(kind, `The model answered ${facts.status ?? 'with an error'}${said}.`, {
    status: facts.status,
    retryAfterMs: retryAfter(kind, facts, limits, now),
    limits: bucketsOf(limits),
    answer: passedOn(answer, facts.status ?? 400, by.secrets),
  });
}

/** A 429 that names no bucket is about the one that is used up. */
function precise(kind: FailureKind, limits: RateLimits): FailureKind {
  return kind === 'rate-limit' ? (exhaustedBucket(limits) ?? kind) : kind;
}

function retryAfter(kind: FailureKind, facts: ErrorFacts, limits: RateLimits, now: number): number | null {
  switch (kind) {
    case 'requests':
    case 'tokens':
      return retryAfterOf(limits, kind);
    case 'rate-limit':
      return retryAfterOf(limits, null);
    case 'quota':
    case 'billing':
      return limits.retryAfterMs ?? findResetInText(facts.message, now);
    default:
      return limits.retryAfterMs;
  }
}

function passedOn(answer: ErrorAnswer, status: number, secrets: readonly (string | undefined)[]): FailureAnswer {
  const contentType = answer.status === null ? JSON_TYPE : (answer.headers.get('content-type') ?? JSON_TYPE);
  const unfit = answer.cut || /^\s*(?:<|$)/.test(answer.text) || contentType.includes('html');
  return unfit
    ? { status, text: SILENT_REFUSAL, contentType: JSON_TYPE }
    : { status, text: clearSecrets(answer.text, secrets), contentType };
}

function factsOf({ status, text }: ErrorAnswer, host: string): ErrorFacts {
  const body = parse(text);
  if (!body) return { status, codes: [], message: text.slice(0, 2000), host };
  // Errors are objects at most providers, strings at some, and spread over the top level at others.
  const error = isJsonObject(body['error']) ? body['error'] : {};
  const codes = [error, body]
    .flatMap(source => [source['code'], source['type'], source['status'], source['error_type'], ...reasonsOf(source)])
    .filter(code => typeof code === 'string' || typeof code === 'number')
    .map(code => String(code).toLowerCase());
  const message = [error['message'], body['message'], body['error']].find(value => typeof value === 'string') ?? '';
  return { status: status ?? statusNamed(codes), codes, message: String(message), host };
}

/** Google's reasons, one level further down. */
function reasonsOf(source: JsonObject): (JsonValue | undefined)[] {
  const details = source['details'];
  return Array.isArray(details) ? details.filter(isJsonObject).map(detail => detail['reason']) : [];
}

function statusNamed(codes: readonly string[]): number | null {
  const status = codes.find(code => /^[45]\d\d$/.test(code));
  return status === undefined ? null : Number(status);
}

function parse(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return isJsonObject(first) ? first : null;
  } catch {
    return null;
  }
}
