import type { Redis, RedisGuard } from '@spillway/redis';
import type { Job } from './job';
import { JobEnds } from './job-ends';

/** Results can be large, and nobody waits for them with an open socket. */
const DEADLINE_MS = 1_000;

/** Ends in Redis, each under a key of its own that expires by itself. */
export class RedisJobEnds extends JobEnds {
  constructor(
    private readonly redis: { readonly connection: Redis; readonly guard: RedisGuard },
    private readonly prefix: string,
    private readonly ttlS: () => number,
  ) {
    super();
  }

  async first(job: Job): Promise<Job> {
    const stored = await this.run(redis => redis.set(this.keyOf(job.id), JSON.stringify(job), 'EX', this.ttlS(), 'NX'));
    if (stored !== null) return job;
    return (await this.of(job.id)) ?? this.first(job);
  }

  async of(id: string): Promise<Job | null> {
    const text = await this.run(redis => redis.get(this.keyOf(id)));
    return text === null ? null : (JSON.parse(text) as Job);
  }

  async forget(id: string): Promise<void> {
    await this.run(redis => redis.del(this.keyOf(id)));
  }

  private run<T>(use: (redis: Redis) => Promise<T>): Promise<T> {
    const { connection, guard } = this.redis;
    return guard.run(() => use(connection), DEADLINE_MS);
  }

  private keyOf(id: string): string {
    return `{${this.prefix}}:job-end:${id}`;
  }
}
