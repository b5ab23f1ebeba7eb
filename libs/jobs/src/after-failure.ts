import { QueueFull, QueueTimeout, RateLimitExceeded, ShuttingDown, type SpillwayError } from '@spillway/contracts';
import type { RetryRule } from './job';

/** 1 to 60 s, doubling, at most 6 attempts: what providers advise for calls that nobody waits for. */
export const DEFAULT_RETRY: RetryRule = { attempts: 6, baseMs: 1_000, factor: 2, capMs: 60_000 };

export interface FailedAttempt {
  readonly error: SpillwayError;
  /** From 1; attempts that do not count are not counted here either. */
  readonly attempt: number;
  readonly ageMs: number;
  readonly oldestMs: number;
}

export type AfterFailure =
  | { readonly kind: 'failed' }
  /** `counted` false: nothing was tried, it was not the job's turn. */
  | { readonly kind: 'again'; readonly inMs: number; readonly counted: boolean };

/**
 * What becomes of a job whose attempt failed. The wait is random between what the error asks for, at least, and that
 * plus a window that grows with the attempts: jobs that failed together do not come back together.
 * @param random from 0 to 1
 */
export function afterFailure(failed: FailedAttempt, rule: RetryRule, random: number): AfterFailure {
  const { error, attempt, ageMs, oldestMs } = failed;
  const counted = !isNotItsTurn(error);
  if (!isRetryable(error) || ageMs >= oldestMs || (counted && attempt >= rule.attempts)) return { kind: 'failed' };
  const windowMs = Math.min(rule.capMs, rule.baseMs * rule.factor ** (attempt - 1));
  return { kind: 'again', inMs: Math.ceil((error.retryAfterMs ?? 0) + random * windowMs), counted };
}

/** Refusals by our own queues and limits: the job waits on, as it would for a model that is busy. */
function isNotItsTurn(error: SpillwayError): boolean {
  return [QueueFull, QueueTimeout, RateLimitExceeded, ShuttingDown].some(kind => error instanceof kind);
}

/** A refusal of the request itself would only be repeated. */
function isRetryable({ retryable, status }: SpillwayError): boolean {
  return retryable && (status >= 500 || status === 429);
}
