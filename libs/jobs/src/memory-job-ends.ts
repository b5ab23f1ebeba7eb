import type { Clock } from '@spillway/contracts';
import type { Job } from './job';
import { JobEnds } from './job-ends';

/** More are not kept, so that results do not fill the memory. */
const MOST = 10_000;

interface Kept {
  readonly job: Job;
  readonly until: number;
}

/** Ends in the memory of this process. */
export class MemoryJobEnds extends JobEnds {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly clock: Clock,
    private readonly ttlS: () => number,
  ) {
    super();
  }

  async first(job: Job): Promise<Job> {
    const known = await this.of(job.id);
    if (known !== null) return known;
    this.kept.set(job.id, { job, until: this.clock.now() + this.ttlS() * 1000 });
    this.sweep();
    return job;
  }

  async of(id: string): Promise<Job | null> {
    const kept = this.kept.get(id);
    return kept !== undefined && kept.until > this.clock.now() ? kept.job : null;
  }

  async forget(id: string): Promise<void> {
    this.kept.delete(id);
  }

  /** The oldest come first, but for a change of the time that results are kept. */
  private sweep(): void {
    for (const [id, { until }] of this.kept) {
      if (until > this.clock.now() && this.kept.size <= MOST) return;
      this.kept.delete(id);
    }
  }
}
