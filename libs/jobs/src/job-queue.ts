import { randomUUID } from 'node:crypto';
import { PartLost, type JsonValue } from '@spillway/contracts';
import { RedisUnavailable } from '@spillway/redis';
import type { BacklogCounts, Entry } from './backlog';
import type { Job, JobHandler, NewJob } from './job';
import { JobRunner } from './job-runner';
import { jobOf, keepEnd, type JobStores } from './job-stores';

/** For jobs to say goodbye once their signal is aborted. */
const FAREWELL_MS = 2_000;
const ID = /^[a-z]+_[\w-]{1,200}$/;

/**
 * The jobs of one kind: added in any process, run in any that works, and kept when they end. A job has one end, the
 * first that is kept: whoever takes it again, after a death or a lost connection, finds that end and lets it go.
 */
export class JobQueue<Payload extends JsonValue> {
  private readonly runner: JobRunner<Payload>;

  constructor(
    readonly kind: string,
    private readonly handler: JobHandler<Payload>,
    private readonly stores: JobStores,
  ) {
    this.runner = new JobRunner(kind, handler, stores);
  }

  /** @throws PartLost while Redis is lost, like all that follow: a job is never promised without being kept. */
  async add({ owner, payload, id, priority = 'low' }: NewJob<Payload>): Promise<Job> {
    const createdAt = Math.round(this.stores.clock.now());
    const name = id ?? `${this.kind}_${randomUUID().replaceAll('-', '')}`;
    const entry: Entry = { id: name, owner, priority, createdAt, payload };
    await keeping(this.stores.backlog.add(entry));
    return jobOf(this.kind, { entry, state: 'queued', attempts: 0, progress: null });
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
    return (await keeping(this.stores.backlog.open(most))).map(state => jobOf(this.kind, state));
  }

  counts(): Promise<BacklogCounts> {
    return keeping(this.stores.backlog.counts());
  }

  /** Makes this process one that runs these jobs. */
  work(concurrency: number): void {
    this.stores.backlog.take({
      concurrency,
      run: taken => this.runner.run(taken),
      interrupt: id => this.runner.interrupt(id),
    });
  }

  /** Takes no more. What still runs after `patienceMs`, or stops by itself before, goes back for another process. */
  async stop(patienceMs: number): Promise<void> {
    const idle = this.stores.backlog.stop();
    this.runner.leave();
    await within(idle, patienceMs);
    this.runner.stop();
    await within(idle, FAREWELL_MS);
  }

  private async lookUp(id: string): Promise<Job | null> {
    // Ends are kept in one place for all kinds.
    if (!ID.test(id) || !id.startsWith(`${this.kind}_`)) return null;
    const { ends, backlog } = this.stores;
    const ended = await ends.of(id);
    if (ended !== null) return ended;
    const state = await backlog.find(id);
    // It may have ended between the two questions. A dead letter whose end is kept no more is over, whoever still has it.
    return state === null || state.state === 'failed' ? ends.of(id) : jobOf(this.kind, state);
  }

  private async withdraw(id: string): Promise<Job | null> {
    const job = await this.lookUp(id);
    if (job === null || job.endedAt !== null) return job;
    const { backlog } = this.stores;
    const state = await backlog.find(id);
    const ended = await keepEnd(this.stores, job, { status: 'cancelled' });
    if (ended.status !== 'cancelled') return ended;
    await backlog.withdraw(id);
    if (state !== null) await this.handler.cancelled?.(state.entry.payload as Payload);
    return ended;
  }

  private async letters(most: number): Promise<readonly Job[]> {
    const { ends, backlog } = this.stores;
    const dead = await backlog.dead(most);
    const kept = await Promise.all(dead.map(({ entry }) => ends.of(entry.id)));
    return kept.filter(job => job !== null);
  }

  private async revive(id: string): Promise<Job | null> {
    if ((await this.lookUp(id))?.status !== 'failed') return null;
    // First, or whoever takes the job finds its old end.
    await this.stores.ends.forget(id);
    return (await this.stores.backlog.revive(id)) ? this.lookUp(id) : null;
  }
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
