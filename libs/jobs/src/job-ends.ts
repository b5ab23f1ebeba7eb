import type { Job } from './job';

/** How jobs ended, for as long as results are kept. */
export abstract class JobEnds {
  /** Keeps an end unless there is one already; returns the one that holds. @throws RedisUnavailable, as the others do */
  abstract first(job: Job): Promise<Job>;
  abstract of(id: string): Promise<Job | null>;
  abstract forget(id: string): Promise<void>;
}
