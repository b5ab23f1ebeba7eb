import { DeadlineExceeded, QueueFull, QueueTimeout, ShuttingDown, type CallSignal } from '@spillway/contracts';

/** When nothing is known yet of the wait, a new try after a second is no burden. */
export const UNKNOWN_WAIT_MS = 1_000;

export function queueFull(retryAfterMs: number): QueueFull {
  return new QueueFull('Too many calls of this class are waiting.', { retryAfterMs });
}

export function tooLate(retryAfterMs: number): QueueTimeout {
  return new QueueTimeout('No turn came within the time this call may wait.', { retryAfterMs });
}

export function shuttingDown(): ShuttingDown {
  return new ShuttingDown('Spillway is shutting down.', { retryAfterMs: UNKNOWN_WAIT_MS });
}

/** What an aborted signal means for a call that waits: a deadline that passes in the queue expires there. */
export function endOfWait(signal: CallSignal, retryAfterMs: number): unknown {
  return signal.reason instanceof DeadlineExceeded ? tooLate(retryAfterMs) : signal.reason;
}
