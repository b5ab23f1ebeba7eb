import type { JsonValue, Priority, SpillwayError } from '@spillway/contracts';

export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** As in the body of an error response. */
export type JobError = ReturnType<SpillwayError['body']>['error'];

/** What can be told of a job; times are milliseconds since the epoch. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  /** The name of the key on whose behalf it runs. */
  readonly owner: string;
  readonly status: JobStatus;
  readonly createdAt: number;
  /** Null: it has not ended. */
  readonly endedAt: number | null;
  /** Attempts that were made and count. */
  readonly attempts: number;
  /** What its handler noted last. */
  readonly progress: JsonValue | null;
  readonly result: JsonValue | null;
  readonly error: JobError | null;
}

export interface NewJob<Payload extends JsonValue> {
  readonly owner: string;
  readonly payload: Payload;
  /** Default: a new one. A job whose id is known already is not added again. */
  readonly id?: string;
  /** Jobs of a higher class are begun first; default: low. */
  readonly priority?: Priority;
}

/** A job in the hands of its handler. */
export interface RunningJob<Payload extends JsonValue> {
  readonly id: string;
  readonly owner: string;
  readonly payload: Payload;
  /** Whether a failure now is final. */
  readonly isLastAttempt: boolean;
  /** What was noted last, also by an earlier attempt in another process. */
  readonly progress: JsonValue | null;
  /** Aborted, with a SpillwayError as its reason, when the job is cancelled or must go on elsewhere. */
  readonly signal: AbortSignal;
  /**
   * Aborted as soon as its process is to end, before `signal` is: a job that can stop between two steps throws its
   * reason then, and goes on elsewhere.
   */
  readonly leaving: AbortSignal;
  /** Notes how far the job has come, for those who look at it and for the next attempt. */
  checkpoint(progress: JsonValue): Promise<void>;
}

/** Attempts, and the waits between them. */
export interface RetryRule {
  /** Attempts in all; those for which it was not the job's turn do not count. */
  readonly attempts: number;
  /** The longest wait after the first attempt; it grows by `factor` with each, up to `capMs`. */
  readonly baseMs: number;
  readonly factor: number;
  readonly capMs: number;
}

/** What one kind of job does. It may run more than once: a process can die between the deed and its record. */
export interface JobHandler<Payload extends JsonValue> {
  readonly retry: RetryRule;
  /** Resolves with the result. @throws what decides by its class whether there is another attempt. */
  run(job: RunningJob<Payload>): Promise<JsonValue>;
  /** Called at least once when a job has succeeded or failed for good, after that has been kept. */
  ended?(job: Job, payload: Payload): Promise<void>;
  /** Called when a job was cancelled, in the process that was asked to; not where that process dies meanwhile. Never fails. */
  cancelled?(payload: Payload): Promise<void>;
}
