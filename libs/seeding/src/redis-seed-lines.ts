import type { Redis, RedisGuard } from '@spillway/redis';
import { SeedLines } from './seed-lines';

/** A list that nobody has added to or read for so long belongs to nobody. */
const KEPT_MS = 7 * 24 * 3_600_000;
/** Lists are large, and nobody waits for them with an open socket. */
const DEADLINE_MS = 1_000;

/** Lines in Redis, where a seed outlives the process that took it. */
export class RedisSeedLines extends SeedLines {
  constructor(
    private readonly connection: Pick<Redis, 'rpush' | 'lrange' | 'pexpire' | 'del'>,
    private readonly guard: Pick<RedisGuard, 'run'>,
    private readonly prefix: string,
  ) {
    super();
  }

  async append(id: string, lines: readonly string[]): Promise<void> {
    await this.use(id, async key => {
      await Promise.all([this.connection.rpush(key, ...lines), this.connection.pexpire(key, KEPT_MS)]);
    });
  }

  page(id: string, from: number, count: number): Promise<readonly string[]> {
    return this.use(id, async key => {
      const [lines] = await Promise.all([
        this.connection.lrange(key, from, from + count - 1),
        this.connection.pexpire(key, KEPT_MS),
      ]);
      return lines;
    });
  }

  async drop(id: string): Promise<void> {
    await this.use(id, key => this.connection.del(key));
  }

  private use<T>(id: string, use: (key: string) => Promise<T>): Promise<T> {
    return this.guard.run(() => use(`{${this.prefix}}:seed-lines:${id}`), DEADLINE_MS);
  }
}
