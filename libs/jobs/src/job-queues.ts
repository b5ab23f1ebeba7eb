import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { ConfigStore } from '@spillway/config';
import { UnexpectedError, type Clock, type JsonValue, type SpillwayError } from '@spillway/contracts';
import type { Logger, Metrics } from '@spillway/telemetry';
import type { Backlog, BacklogCounts } from './backlog';
import type { Job, JobHandler, JobStatus } from './job';
import type { JobEnds } from './job-ends';
import { JobQueue } from './job-queue';

/** Where the jobs of this process are kept. */
export interface JobStorage {
  readonly ends: JobEnds;
  backlog(kind: string): Backlog;
}

/** A job that has not ended as operators see it: never what it asks. */
interface WaitingJob {
  readonly id: string;
  /** The name of the key on whose behalf it runs. */
  readonly key: string;
  readonly status: JobStatus;
  readonly attempts: number;
  readonly ageMs: number;
}

/** The jobs of one kind. */
export interface JobQueueReport extends BacklogCounts {
  readonly jobs: readonly WaitingJob[];
}

/** All queues of jobs of this process, one for each kind. */
export class JobQueues implements BeforeApplicationShutdown {
  private readonly queues = new Map<string, { readonly queue: JobQueue<never>; readonly concurrency: () => number }>();
  private working = false;
  private stopping: Promise<void> | null = null;

  constructor(
    private readonly storage: JobStorage,
    private readonly config: ConfigStore,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    metrics.measureJobs(() => this.counts());
  }

  /**
   * Opens the queue of a kind: lower-case letters, and the beginning of the ids of its jobs. Its handler runs in the
   * processes that work, at most `concurrency` at a time in each.
   */
  open<Payload extends JsonValue>(
    kind: string,
    handler: JobHandler<Payload>,
    concurrency: () => number,
  ): JobQueue<Payload> {
    const queue = new JobQueue(kind, handler, {
      backlog: this.storage.backlog(kind),
      ends: this.storage.ends,
      clock: this.clock,
      oldestMs: () => this.config.current.async.max_age_s * 1000,
      onEnd: job => this.reportEnd(job),
      onFailure: (job, error) => this.reportFailure(job, error),
    });
    this.queues.set(kind, { queue: queue as JobQueue<never>, concurrency });
    if (this.working) queue.work(concurrency());
    return queue;
  }

  /** Makes this process one that runs jobs. */
  work(): void {
    if (this.working) return;
    this.working = true;
    for (const { queue, concurrency } of this.queues.values()) queue.work(concurrency());
  }

  /** Jobs of all kinds that failed for good, newest first. @throws PartLost */
  async failed(most: number): Promise<readonly Job[]> {
    const letters = await Promise.all([...this.queues.values()].map(({ queue }) => queue.failed(most)));
    return letters
      .flat()
      .toSorted((one, other) => (other.endedAt ?? 0) - (one.endedAt ?? 0))
      .slice(0, most);
  }

  /** The jobs of each kind: how many there are, and those that have not ended, at most so many. @throws PartLost */
  async report(most: number): Promise<Readonly<Record<string, JobQueueReport>>> {
    const all = [...this.queues].map(async ([kind, { queue }]): Promise<[string, JobQueueReport]> => {
      const [counts, jobs] = await Promise.all([queue.counts(), queue.open(most)]);
      const now = this.clock.now();
      return [kind, { ...counts, jobs: jobs.map(job => waitingJob(job, now)) }];
    });
    return Object.fromEntries(await Promise.all(all));
  }

  /** Lets a job that failed for good begin anew; null: there is none. @throws PartLost */
  async retry(id: string): Promise<Job | null> {
    const kind = id.slice(0, id.indexOf('_'));
    return (await this.queues.get(kind)?.queue.retry(id)) ?? null;
  }

  /** Takes no more jobs; what runs after `patienceMs` is handed back. */
  stop(patienceMs: number): Promise<void> {
    const stopAll = async (): Promise<void> => {
      await Promise.all([...this.queues.values()].map(({ queue }) => queue.stop(patienceMs)));
    };
    return (this.stopping ??= stopAll());
  }

  /** Runs before the hook in which the connections to Redis close. */
  beforeApplicationShutdown(): Promise<void> {
    return this.stop(0);
  }

  private async counts(): Promise<{ kind: string; state: string; count: number }[]> {
    const all = [...this.queues].map(async ([kind, { queue }]) =>
      Object.entries(await queue.counts()).map(([state, count]) => ({ kind, state, count })),
    );
    return (await Promise.all(all)).flat();
  }

  private reportFailure({ id, kind, owner, attempts }: Job, error: SpillwayError): void {
    const fields = { job_id: id, kind, key: owner, attempt: attempts, code: error.code };
    if (error instanceof UnexpectedError) this.logger.error({ ...fields, err: error.cause }, 'job attempt failed');
    else this.logger.info({ ...fields, reason: error.message }, 'job attempt failed');
  }

  private reportEnd({ id, kind, owner, status, attempts, createdAt, endedAt, error }: Job): void {
    this.metrics.jobEnded(kind, status);
    const durationMs = (endedAt ?? createdAt) - createdAt;
    const fields = { job_id: id, kind, key: owner, status, attempts, duration_ms: durationMs, code: error?.code };
    if (status === 'failed') this.logger.warn(fields, 'job ended');
    else this.logger.info(fields, 'job ended');
  }
}

function waitingJob({ id, owner, status, attempts, createdAt }: Job, now: number): WaitingJob {
  return { id, key: owner, status, attempts, ageMs: Math.round(now - createdAt) };
}
