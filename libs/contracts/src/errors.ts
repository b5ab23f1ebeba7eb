import type { Outcome } from './outcome';

export interface ErrorBody {
  readonly error: { message: string; type: string; param: string | null; code: string | null };
}

interface ErrorDetails {
  readonly param?: string | null;
  readonly retryAfterMs?: number | null;
  /** False where asking again cannot help, whatever the status suggests. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** A failure that a caller may see. Messages name no key, address or stack. */
export abstract class SpillwayError extends Error {
  abstract readonly code: string;
  abstract readonly status: number;
  abstract readonly type: string;
  abstract readonly outcome: Outcome;
  readonly param: string | null;
  /** Milliseconds until a new try makes sense; null: not known. */
  readonly retryAfterMs: number | null;
  readonly retryable: boolean;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = new.target.name;
    this.param = details.param ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.retryable = details.retryable ?? true;
  }

  body(): ErrorBody {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } };
  }
}

/**
 * Whether something less than the answer of a model may take the place of an error: nobody could answer, which is no
 * fault of the caller and no limit of its own.
 */
export function allowsStandIn(error: unknown): error is SpillwayError {
  return error instanceof SpillwayError && (error.code === 'queue_full' || [502, 503, 504].includes(error.status));
}

export class InvalidRequest extends SpillwayError {
  readonly code = 'invalid_request';
  readonly status = 400;
  readonly type = 'invalid_request_error';
  readonly outcome = 'rejected-invalid';
}

export class InvalidApiKey extends SpillwayError {
  readonly code = 'invalid_api_key';
  readonly status = 401;
  readonly type = 'authentication_error';
  readonly outcome = 'rejected-auth';
}

export class NotAllowed extends SpillwayError {
  readonly code = 'not_allowed';
  readonly status = 403;
  readonly type = 'permission_error';
  readonly outcome = 'rejected-auth';
}

export class ModelNotFound extends SpillwayError {
  readonly code = 'model_not_found';
  readonly status = 404;
  readonly type = 'invalid_request_error';
  readonly outcome = 'rejected-invalid';
}

export class NotFound extends SpillwayError {
  readonly code = 'not_found';
  readonly status = 404;
  readonly type = 'invalid_request_error';
  readonly outcome = 'rejected-invalid';
}

/** There is something at this address, for other methods. */
export class MethodNotAllowed extends SpillwayError {
  readonly code = 'method_not_supported';
  readonly status = 405;
  readonly type = 'invalid_request_error';
  readonly outcome = 'rejected-invalid';
}

export class RequestTooLarge extends SpillwayError {
  readonly code = 'request_too_large';
  readonly status = 413;
  readonly type = 'invalid_request_error';
  readonly outcome = 'rejected-invalid';
}

/** The caller's own limit. */
export class RateLimitExceeded extends SpillwayError {
  readonly code = 'rate_limit_exceeded';
  readonly status = 429;
  readonly type = 'rate_limit_error';
  readonly outcome = 'rejected-limit';
}

export class QueueFull extends SpillwayError {
  readonly code = 'queue_full';
  readonly status = 429;
  readonly type = 'rate_limit_error';
  readonly outcome = 'rejected-queue-full';
}

export class UpstreamError extends SpillwayError {
  readonly code = 'upstream_error';
  readonly status = 502;
  readonly type = 'api_error';
  readonly outcome = 'upstream-failed';
}

/** A failure that nobody foresaw: its caller learns that it happened, the log what it was. */
export class UnexpectedError extends UpstreamError {}

export class UpstreamAuthError extends SpillwayError {
  readonly code = 'upstream_auth_error';
  readonly status = 502;
  readonly type = 'api_error';
  readonly outcome = 'upstream-failed';
}

export class NoModelAvailable extends SpillwayError {
  readonly code = 'no_model_available';
  readonly status = 503;
  readonly type = 'api_error';
  readonly outcome = 'upstream-failed';
}

export class ShuttingDown extends SpillwayError {
  readonly code = 'shutting_down';
  readonly status = 503;
  readonly type = 'api_error';
  readonly outcome = 'shutting-down';
}

export class QueueTimeout extends SpillwayError {
  readonly code = 'queue_timeout';
  readonly status = 504;
  readonly type = 'timeout_error';
  readonly outcome = 'expired-in-queue';
}

/** The caller wanted a kept answer or none (`Cache-Control: only-if-cached`), and there is none. */
export class NotCached extends SpillwayError {
  readonly code = 'not_cached';
  readonly status = 504;
  readonly type = 'timeout_error';
  readonly outcome = 'not-cached';
}

export class UpstreamTimeout extends SpillwayError {
  readonly code = 'upstream_timeout';
  readonly status = 504;
  readonly type = 'timeout_error';
  readonly outcome = 'upstream-failed';
}

/** Something that an operator asked for needs a part that is lost. */
export class PartLost extends SpillwayError {
  readonly code = 'part_lost';
  readonly status = 503;
  readonly type = 'api_error';
  readonly outcome = 'upstream-failed';
}

/** The deadline of the call itself has passed; where it was waiting decides what its caller is told. */
export class DeadlineExceeded extends UpstreamTimeout {}

/** The caller closed its connection; nobody reads the status. */
export class ClientGone extends SpillwayError {
  readonly code = 'client_gone';
  readonly status = 499;
  readonly type = 'api_error';
  readonly outcome = 'client-gone';
}

/** A model's own refusal of the caller's request (400, 404, 413, 422 …), passed on as it came. */
export class RefusedByModel extends SpillwayError {
  readonly code = 'invalid_request';
  readonly type = 'invalid_request_error';
  readonly outcome = 'rejected-invalid';

  constructor(
    readonly status: number,
    /** The model's answer, cleared of secrets. */
    readonly text: string,
    readonly contentType: string,
  ) {
    super('The model refused the request.', { retryable: false });
  }
}
