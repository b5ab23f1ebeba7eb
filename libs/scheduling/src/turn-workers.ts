import { Worker, type ConnectionOptions, type Job, type WorkerOptions } from 'bullmq';
import { PRIORITIES, type Priority } from '@spillway/contracts';
import type { Permits } from '@spillway/quota';
import type { Report } from './report';
import type { TicketJob } from './ticket-queues';
import type { TurnSignals } from './turn-signals';

export interface WorkerSettings {
  readonly connection: ConnectionOptions;
  readonly prefix: string;
  /** Tickets of one class that this process reaches at the same time. */
  readonly concurrency: number;
}

/**
 * A job lasts for one question to the permits, a millisecond or two. One whose worker has died is taken by another once
 * its lock has ended and two checks have seen it without: within a second. Where a worker stood still for as long, its
 * ticket is reached twice, which changes nothing.
 */
const LOCK_MS = 400;
const STALLED_CHECK_MS = 200;
/** BullMQ would fail a job whose worker died twice. */
const ANY_NUMBER = 1_000_000;
/** After an error of Redis; BullMQ's own 15 s would leave waiting calls alone for too long. */
const RETRY_MS = 500;
/** How long a worker listens for a job before it asks again, seconds; also how long a lost Redis can hold its end up. */
const LISTEN_S = 0.5;
const CLOSE_WITHIN_MS = 2_000;

/**
 * Hands out turns: one BullMQ worker for each class. A job is done as soon as its ticket has been reached, granted or
 * not: from then on this process tells its owner when the permits grant it. Holding the job until then would let calls
 * that wait for one model block the queue for those of another.
 */
export class TurnWorkers {
  private readonly workers: readonly Worker<TicketJob>[];

  constructor(
    private readonly permits: Permits,
    private readonly signals: TurnSignals,
    settings: WorkerSettings,
    report: Report,
  ) {
    permits.onGrant(grant => signals.tell(grant));
    this.workers = PRIORITIES.map(priority => this.workerOf(priority, settings));
    for (const worker of this.workers) {
      worker.on('error', error => report('a queue worker met an error', error));
      worker.on('failed', (_job, error) => report('a ticket was not reached', error));
    }
  }

  /** Ends after the jobs under way, a matter of milliseconds; at once when Redis is lost. */
  async close(lost: boolean): Promise<void> {
    const closed = Promise.allSettled(this.workers.map(worker => worker.close(lost)));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise(resolve => (timer = setTimeout(resolve, CLOSE_WITHIN_MS)));
    await Promise.race([closed, late]);
    clearTimeout(timer);
  }

  private workerOf(priority: Priority, { connection, prefix, concurrency }: WorkerSettings): Worker<TicketJob> {
    const options: WorkerOptions = {
      connection,
      prefix,
      concurrency,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      drainDelay: LISTEN_S,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: ANY_NUMBER,
      runRetryDelay: RETRY_MS,
    };
    return new Worker(priority, job => this.process(job), options);
  }

  private async process(job: Job<TicketJob>): Promise<void> {
    const reached = await this.permits.reach(job.data.ticket);
    if (reached.kind === 'granted') this.signals.tell(reached.grant);
  }
}
