import {
  DelayedError,
  Queue,
  UnrecoverableError,
  WaitingError,
  Worker,
  type Job as BullJob,
  type JobsOptions,
  type WorkerOptions,
} from 'bullmq';
import { rankOf, type JsonValue } from '@spillway/contracts';
import { reasonOfLoss, type RedisChannels, type RedisConnections, type RedisGuard } from '@spillway/redis';
import type { Logger } from '@spillway/telemetry';
import {
  Backlog,
  type BacklogCounts,
  type Entry,
  type EntryState,
  type Taken,
  type Taker,
  type Verdict,
} from './backlog';

export interface BullParts {
  readonly connections: RedisConnections;
  readonly guard: RedisGuard;
  readonly channels: RedisChannels;
  readonly logger: Logger;
  /** Seconds that dead letters are kept. */
  readonly deadTtlS: () => number;
}

/**
 * A lock is renewed at a quarter of its life, so that a loop blocked for 7 s loses none, and the jobs of a killed process
 * are taken by another after a whole life and two of these checks at most.
 */
const LOCK_MS = 10_000;
const RENEWAL_MS = 2_500;
const STALLED_CHECK_MS = 1_000;
/** BullMQ would fail a job whose process died twice; how many deaths are too many is not its decision. */
const ANY_NUMBER = 1_000_000;
/** After an error of Redis. */
const RETRY_MS = 500;
/** How long a worker listens for a job before it asks again, seconds. */
const LISTEN_S = 1;
/** Payloads can be large, and nobody waits for them with a model. */
const DEADLINE_MS = 1_000;
const MOST_DEAD = 10_000;
const WAITING = ['waiting', 'prioritized', 'delayed'] as const;

type Stored = Omit<Entry, 'id'>;
type Queued = BullJob<Stored, null>;

/** Fails an attempt that counts, when the next one is due. */
class Again extends Error {
  constructor(readonly inMs: number) {
    super('to be tried again');
  }
}

/** Jobs in a BullMQ queue: they outlive all processes. */
export class BullBacklog extends Backlog {
  private readonly queue: Queue<Stored, null>;
  private readonly prefix: string;
  private readonly interrupts: string;
  private worker: Worker<Stored, null> | null = null;
  private silence: (() => void) | null = null;

  constructor(
    private readonly kind: string,
    private readonly parts: BullParts,
  ) {
    super();
    const { connections } = parts;
    this.prefix = `{${connections.prefix}}`;
    this.interrupts = `{${connections.prefix}}:job-interrupts:${kind}`;
    this.queue = new Queue(this.name, {
      connection: connections.get('queue'),
      prefix: this.prefix,
      streams: { events: { maxLen: 0 } },
    });
    this.queue.on('error', error => this.report('a queue of jobs met an error', error));
  }

  async add({ id, ...stored }: Entry): Promise<void> {
    const options: JobsOptions = {
      jobId: id,
      // None would overtake all others.
      priority: 1 + rankOf(stored.priority),
      attempts: ANY_NUMBER,
      backoff: { type: 'verdict' },
      stackTraceLimit: 0,
      removeOnComplete: true,
    };
    await this.run(() => this.queue.add(this.kind, stored, options));
  }

  async find(id: string): Promise<EntryState | null> {
    const job = await this.run(() => this.queue.getJob(id));
    if (job === undefined) return null;
    const state = await this.run(() => job.getState());
    switch (state) {
      case 'unknown':
      case 'completed':
        return null;
      case 'active':
        return stateOf(job, 'running');
      case 'failed':
        return stateOf(job, 'failed');
      default:
        return stateOf(job, 'queued');
    }
  }

  async withdraw(id: string): Promise<void> {
    const removed = await this.run(() => this.queue.remove(id));
    if (removed === 0) await this.run(() => this.parts.channels.publish(this.interrupts, id));
  }

  async dead(most: number): Promise<readonly EntryState[]> {
    const jobs = await this.run(() => this.queue.getJobs(['failed'], 0, most - 1, false));
    return jobs.map(job => stateOf(job, 'failed'));
  }

  async revive(id: string): Promise<boolean> {
    const job = await this.run(() => this.queue.getJob(id));
    if (job === undefined || !(await this.run(() => job.isFailed()))) return false;
    await this.run(() => job.retry('failed', { resetAttemptsMade: true }));
    return true;
  }

  async counts(): Promise<BacklogCounts> {
    const counts = await this.run(() => this.queue.getJobCounts(...WAITING, 'active', 'failed'));
    const sum = (states: readonly string[]): number => states.reduce((all, state) => all + (counts[state] ?? 0), 0);
    return { queued: sum(WAITING), running: sum(['active']), failed: sum(['failed']) };
  }

  async open(most: number): Promise<readonly EntryState[]> {
    if (most === 0) return [];
    const listed = async (state: (typeof WAITING)[number] | 'active'): Promise<readonly EntryState[]> => {
      const jobs = await this.run(() => this.queue.getJobs([state], 0, most - 1, true));
      return jobs.map(job => stateOf(job, state === 'active' ? 'running' : 'queued'));
    };
    return (await Promise.all((['active', ...WAITING] as const).map(listed))).flat().slice(0, most);
  }

  take(taker: Taker): void {
    const { connections, channels, deadTtlS } = this.parts;
    this.silence = channels.channel(this.interrupts, id => taker.interrupt(id));
    const options: WorkerOptions = {
      connection: connections.get('worker'),
      prefix: this.prefix,
      concurrency: taker.concurrency,
      removeOnComplete: { count: 0 },
      removeOnFail: { age: deadTtlS(), count: MOST_DEAD },
      drainDelay: LISTEN_S,
      lockDuration: LOCK_MS,
      lockRenewTime: RENEWAL_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: ANY_NUMBER,
      runRetryDelay: RETRY_MS,
      settings: { backoffStrategy: (_attempts, _type, error) => (error instanceof Again ? error.inMs : RETRY_MS) },
    };
    this.worker = new Worker(this.name, (job, token) => this.process(job, token, taker), options);
    this.worker.on('error', error => this.report('a worker of jobs met an error', error));
  }

  async stop(): Promise<void> {
    await this.worker?.close(this.parts.guard.state === 'lost');
    this.silence?.();
    await this.queue.close();
  }

  private get name(): string {
    return `jobs-${this.kind}`;
  }

  private async process(job: Queued, token: string | undefined, taker: Taker): Promise<null> {
    const verdict: Verdict = await taker.run(takenOf(job));
    switch (verdict.kind) {
      case 'done':
        return null;
      case 'dead':
        throw new UnrecoverableError('failed for good');
      case 'again':
        if (verdict.counted) throw new Again(verdict.inMs);
        await job.moveToDelayed(Date.now() + verdict.inMs, token);
        throw new DelayedError();
      case 'back':
        await job.moveToWait(token);
        throw new WaitingError();
      default:
        return verdict satisfies never;
    }
  }

  private run<T>(use: () => Promise<T>): Promise<T> {
    return this.parts.guard.run(use, DEADLINE_MS);
  }

  /** A lost Redis, which makes everything here fail, is reported elsewhere. */
  private report(problem: string, error: unknown): void {
    if (reasonOfLoss(error) === null) this.parts.logger.warn({ kind: this.kind, err: error }, problem);
  }
}

function entryOf({ id = '', data }: Queued): Entry {
  return { id, ...data };
}

function stateOf(job: Queued, state: EntryState['state']): EntryState {
  return { entry: entryOf(job), state, attempts: job.attemptsMade, progress: progressOf(job) };
}

/** BullMQ's own first value is the number 0. */
function progressOf({ progress }: Queued): JsonValue | null {
  return progress === 0 ? null : (progress as JsonValue);
}

function takenOf(job: Queued): Taken {
  return {
    entry: entryOf(job),
    attempt: job.attemptsMade + 1,
    deaths: job.stalledCounter,
    progress: progressOf(job),
    checkpoint: progress => job.updateProgress(progress as object),
  };
}
