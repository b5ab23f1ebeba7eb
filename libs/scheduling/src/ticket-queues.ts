import type { JobsOptions, Queue, QueueOptions } from 'bullmq';
import { PRIORITIES, type Priority } from '@spillway/contracts';
import type { WaitRequest } from '@spillway/quota';
import type { RedisGuard } from '@spillway/redis';
import { jobPriority } from './job-priority';
import type { Report } from './report';

/** All that a job holds; the call itself stays with its owner. */
export interface TicketJob {
  readonly ticket: string;
}

/** All keys of the queues lie in one slot of a cluster. */
export function bullPrefix(prefix: string): string {
  return `{${prefix}}`;
}

/** Nobody reads the events of these jobs, so their stream is kept as short as Redis can trim it. */
export const QUEUE_OPTIONS = {
  streams: { events: { maxLen: 0 } },
  defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
} satisfies Omit<QueueOptions, 'connection'>;

/** The three BullMQ queues that carry tickets from their owners to the workers. */
export class TicketQueues {
  constructor(
    private readonly queues: Readonly<Record<Priority, Queue<TicketJob>>>,
    private readonly guard: Pick<RedisGuard, 'run'>,
    report: Report,
  ) {
    for (const queue of Object.values(queues)) queue.on('error', error => report('a queue met an error', error));
  }

  /** @throws RedisUnavailable; left alone, BullMQ would wait for Redis to come back. */
  async add(request: WaitRequest): Promise<void> {
    const { name, data, opts } = jobOf(request);
    await this.guard.run(() => this.queues[request.priority].add(name, data, opts));
  }

  /** Queues those that are not queued: a job's id is its ticket, and BullMQ adds no id twice. */
  async addMissing(requests: readonly WaitRequest[]): Promise<void> {
    for (const priority of PRIORITIES) {
      const jobs = requests.filter(request => request.priority === priority).map(jobOf);
      if (jobs.length > 0) await this.guard.run(() => this.queues[priority].addBulk(jobs));
    }
  }

  /** Jobs of a class by state; they are gone once a worker has reached their tickets. */
  counts(priority: Priority): Promise<Readonly<Record<string, number>>> {
    const queue = this.queues[priority];
    return this.guard.run(() => queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'));
  }

  async remove({ priority, ticket }: WaitRequest): Promise<void> {
    await this.guard.run(() => this.queues[priority].remove(ticket));
  }
}

function jobOf({ ticket, turnBy }: WaitRequest): { name: string; data: TicketJob; opts: JobsOptions } {
  return { name: 'turn', data: { ticket }, opts: { jobId: ticket, priority: jobPriority(turnBy) } };
}
