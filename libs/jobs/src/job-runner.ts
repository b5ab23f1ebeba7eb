import { setTimeout as sleep } from 'node:timers/promises';
import {
  ClientGone,
  NoModelAvailable,
  ShuttingDown,
  SpillwayError,
  UnexpectedError,
  type JsonValue,
} from '@spillway/contracts';
import { RedisUnavailable } from '@spillway/redis';
import { afterFailure } from './after-failure';
import type { Taken, Verdict } from './backlog';
import type { Job, JobHandler } from './job';
import { jobError } from './job-error';
import { jobOf, keepEnd, type End, type JobStores } from './job-stores';

/** A job that has taken so many processes with it is not begun again. */
const MOST_DEATHS = 10;
/** Time between two tries to keep an end while Redis is lost. */
const KEEP_AGAIN_MS = 500;

/** Runs the jobs that this process takes, each until it has an end, is to be tried again, or goes back. */
export class JobRunner<Payload extends JsonValue> {
  private readonly running = new Map<string, AbortController>();
  private readonly leaving = new AbortController();
  private stopped = false;

  constructor(
    private readonly kind: string,
    private readonly handler: JobHandler<Payload>,
    private readonly stores: JobStores,
  ) {}

  /** Tells a job that it was cancelled, if it runs here. */
  interrupt(id: string): void {
    this.running.get(id)?.abort(new ClientGone('The job was cancelled.'));
  }

  /** Tells all jobs that this process is leaving; those that can stop between two steps do. */
  leave(): void {
    this.leaving.abort(new ShuttingDown('This process is shutting down; another one goes on.'));
  }

  /** After `leave`: aborts what still runs. */
  stop(): void {
    this.stopped = true;
    for (const run of this.running.values()) run.abort(this.leaving.signal.reason);
  }

  async run(taken: Taken): Promise<Verdict> {
    const { entry } = taken;
    const abort = new AbortController();
    this.running.set(entry.id, abort);
    try {
      const job = (await this.stores.ends.of(entry.id)) ?? (await this.attempt(taken, abort.signal));
      if (job.status !== 'cancelled') await this.handler.ended?.(job, entry.payload as Payload);
      return job.status === 'failed' ? { kind: 'dead' } : { kind: 'done' };
    } catch (thrown) {
      return this.afterThrow(thrown, taken, abort.signal);
    } finally {
      this.running.delete(entry.id);
    }
  }

  /** Runs the handler once; resolves with the end of the job, throws where it has none yet. */
  private async attempt(taken: Taken, signal: AbortSignal): Promise<Job> {
    const { entry, attempt, deaths, progress } = taken;
    const { retry } = this.handler;
    const job = jobOf(this.kind, { entry, state: 'running', attempts: attempt, progress });
    let latest = progress;
    const failed = (error: SpillwayError): Promise<Job> =>
      this.keep({ ...job, progress: latest }, { status: 'failed', error: jobError(error) });
    if (deaths > MOST_DEATHS) return failed(new NoModelAvailable('Every process that ran this job has died.'));
    try {
      const result = await this.handler.run({
        id: entry.id,
        owner: entry.owner,
        payload: entry.payload as Payload,
        isLastAttempt: attempt >= retry.attempts,
        progress,
        signal,
        // Not one for all: whoever listens to a signal may forget to stop.
        leaving: AbortSignal.any([this.leaving.signal]),
        checkpoint: async next => taken.checkpoint((latest = next)),
      });
      return await this.keep({ ...job, progress: latest }, { status: 'succeeded', result });
    } catch (thrown) {
      if (signal.aborted || this.hasLeft(thrown) || thrown instanceof RedisUnavailable) throw thrown;
      const error = errorOf(thrown);
      this.stores.onFailure(job, error);
      if (this.next(error, taken).kind === 'failed') return failed(error);
      throw error;
    }
  }

  private async afterThrow(thrown: unknown, taken: Taken, signal: AbortSignal): Promise<Verdict> {
    if (signal.aborted) return signal.reason instanceof ClientGone ? { kind: 'done' } : { kind: 'back' };
    if (this.hasLeft(thrown)) return { kind: 'back' };
    const next = thrown instanceof RedisUnavailable ? null : this.next(errorOf(thrown), taken);
    return next?.kind === 'again' ? next : { kind: 'again', inMs: KEEP_AGAIN_MS, counted: false };
  }

  private hasLeft(thrown: unknown): boolean {
    return this.leaving.signal.aborted && thrown === this.leaving.signal.reason;
  }

  private next(error: SpillwayError, { entry, attempt }: Taken): ReturnType<typeof afterFailure> {
    const { clock, oldestMs } = this.stores;
    const ageMs = clock.now() - entry.createdAt;
    return afterFailure({ error, attempt, ageMs, oldestMs: oldestMs() }, this.handler.retry, Math.random());
  }

  /** Keeps an end, however long Redis takes: what a model was paid for must not be lost. */
  private async keep(job: Job, end: End): Promise<Job> {
    for (;;) {
      try {
        return await keepEnd(this.stores, job, end);
      } catch (error) {
        if (this.stopped || !(error instanceof RedisUnavailable)) throw error;
        await sleep(KEEP_AGAIN_MS);
      }
    }
  }
}

function errorOf(thrown: unknown): SpillwayError {
  if (thrown instanceof SpillwayError) return thrown;
  return new UnexpectedError('Something unexpected went wrong here.', { cause: thrown });
}
