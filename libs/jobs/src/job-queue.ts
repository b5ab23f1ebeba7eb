import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ClientGone,
  NoModelAvailable,
  PartLost,
  ShuttingDown,
  SpillwayError,
  UnexpectedError,
  type Clock,
  type JsonValue,
} from '@spillway/contracts';
import { RedisUnavailable } from '@spillway/redis';
import { afterFailure } from './after-failure';
import type { Backlog, BacklogCounts, Entry, EntryState, Taken, Verdict } from './backlog';
import type { Job, JobHandler, NewJob } from './job';
import type { JobEnds } from './job-ends';
import { jobError } from './job-error';

/** A job that has taken so many processes with it is not begun again. */
const MOST_DEATHS = 10;
/** Time between two tries to keep an end while Redis is lost. */
const KEEP_AGAIN_MS = 500;
/** For jobs to say goodbye once their signal is aborted. */
const FAREWELL_MS = 2_000;
const ID = /^[a-z]+_[\w-]{1,200}$/;

type End = Pick<Job, 'status'> & Partial<Pick<Job, 'result' | 'error'>>;

/** What a queue of jobs stands on. */
export interface JobStores {
  readonly backlog: Backlog;
  readonly ends: JobEnds;
  readonly clock: Clock;
  /** Milliseconds after which a job is tried no more. */
  readonly oldestMs: () => number;
  /** Told of every end that was kept here. */
  readonly onEnd: (job: Job) => void;
  /** Told of every attempt that failed here, the last one too. */
  readonly onFailure: (job: Job, error: SpillwayError) => void;
}

/**
 * The jobs of one kind: added in any process, run in any that works, and kept when they end. A job has one end, the
 * first that is kept: whoever takes it again, after a death or a lost connection, finds that end and lets it go.
 */
export class JobQueue<Payload extends JsonValue> {
  private readonly running = new Map<string, AbortController>();
  private readonly leaving = new AbortController();
  private stopped = false;

  constructor(
    readonly kind: string,
    private readonly handler: JobHandler<Payload>,
    private readonly stores: JobStores,
  ) {}

  /** @throws PartLost while Redis is lost, like all that follow: a job is never promised without being kept. */
  async add({ owner, payload, id, priority = 'low' }: NewJob<Payload>): Promise<Job> {
    const createdAt = Math.round(this.stores.clock.now());
    const name = id ?? `${this.kind}_${randomUUID().replaceAll('-', '')}`;
    const entry: Entry = { id: name, owner, priority, createdAt, payload };
    await keeping(this.stores.backlog.add(entry));
    return this.jobOf({ entry, state: 'queued', attempts: 0, progress: null });
  }

  find(id: string): Promise<Job | null> {
    return keeping(this.lookUp(id));
  }

  /** Cancels a job that has not ended, and returns it as it is then; null: unknown. */
  cancel(id: string): Promise<Job | null> {
    return keeping(this.withdraw(id));
  }

  /** Jobs that failed for good, newest first. */
  failed(most: number): Promise<readonly Job[]> {
    return keeping(this.letters(most));
  }

  /** Lets a job that failed for good begin anew; null: it is unknown, or did not fail. */
  retry(id: string): Promise<Job | null> {
    return keeping(this.revive(id));
  }

  /** Jobs that have not ended: those that run, then those that wait, the next first. */
  async open(most: number): Promise<readonly Job[]> {
    return (await keeping(this.stores.backlog.open(most))).map(state => this.jobOf(state));
  }

  counts(): Promise<BacklogCounts> {
    return keeping(this.stores.backlog.counts());
  }

  /** Makes this process one that runs these jobs. */
  work(concurrency: number): void {
    this.stores.backlog.take({
      concurrency,
      run: taken => this.run(taken),
      interrupt: id => this.running.get(id)?.abort(new ClientGone('The job was cancelled.')),
    });
  }

  /** Takes no more. What still runs after `patienceMs`, or stops by itself before, goes back for another process. */
  async stop(patienceMs: number): Promise<void> {
    const idle = this.stores.backlog.stop();
    const reason = new ShuttingDown('This process is shutting down; another one goes on.');
    this.leaving.abort(reason);
    await within(idle, patienceMs);
    this.stopped = true;
    for (const run of this.running.values()) run.abort(reason);
    await within(idle, FAREWELL_MS);
  }

  private async lookUp(id: string): Promise<Job | null> {
    if (!ID.test(id)) return null;
    const { ends, backlog } = this.stores;
    const ended = await ends.of(id);
    if (ended !== null) return ended;
    const state = await backlog.find(id);
    // It may have ended between the two questions.
    return state === null ? ends.of(id) : this.jobOf(state);
  }

  private async withdraw(id: string): Promise<Job | null> {
    const job = await this.lookUp(id);
    if (job === null || job.endedAt !== null) return job;
    const ended = await this.end(job, { status: 'cancelled' });
    if (ended.status === 'cancelled') await this.stores.backlog.withdraw(id);
    return ended;
  }

  private async letters(most: number): Promise<readonly Job[]> {
    const { ends, backlog } = this.stores;
    const dead = await backlog.dead(most);
    return Promise.all(dead.map(async state => (await ends.of(state.entry.id)) ?? this.jobOf(state)));
  }

  private async revive(id: string): Promise<Job | null> {
    if ((await this.lookUp(id))?.status !== 'failed') return null;
    // First, or whoever takes the job finds its old end.
    await this.stores.ends.forget(id);
    return (await this.stores.backlog.revive(id)) ? this.lookUp(id) : null;
  }

  private async run(taken: Taken): Promise<Verdict> {
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
    const job = this.jobOf({ entry, state: 'running', attempts: attempt, progress });
    let latest = progress;
    const failed = (error: SpillwayError): Promise<Job> =>
      this.keepEnd({ ...job, progress: latest }, { status: 'failed', error: jobError(error) });
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
      return await this.keepEnd({ ...job, progress: latest }, { status: 'succeeded', result });
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
  private async keepEnd(job: Job, end: End): Promise<Job> {
    for (;;) {
      try {
        return await this.end(job, end);
      } catch (error) {
        if (this.stopped || !(error instanceof RedisUnavailable)) throw error;
        await sleep(KEEP_AGAIN_MS);
      }
    }
  }

  private async end(job: Job, end: End): Promise<Job> {
    const ended: Job = { ...job, ...end, endedAt: Math.round(this.stores.clock.now()) };
    const first = await this.stores.ends.first(ended);
    if (first === ended) this.stores.onEnd(ended);
    return first;
  }

  private jobOf({ entry, state, attempts, progress }: EntryState): Job {
    const { id, owner, createdAt } = entry;
    const begun = { id, kind: this.kind, owner, createdAt, attempts, progress };
    return { ...begun, status: state, endedAt: null, result: null, error: null };
  }
}

function errorOf(thrown: unknown): SpillwayError {
  if (thrown instanceof SpillwayError) return thrown;
  return new UnexpectedError('Something unexpected went wrong here.', { cause: thrown });
}

async function keeping<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof RedisUnavailable)) throw error;
    throw new PartLost('Redis is lost: jobs cannot be kept or looked at now.', { cause: error, retryAfterMs: 1_000 });
  }
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise(resolve => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
