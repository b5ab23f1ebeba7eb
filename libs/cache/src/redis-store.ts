import type { Clock } from '@spillway/contracts';
import type { Redis, RedisGuard } from '@spillway/redis';
import { decode, encode, keptUntil, type CachedAnswer } from './cached-answer';
import { ExactStore } from './exact-store';

/** Keeps answers in Redis, for all processes. */
export class RedisStore extends ExactStore {
  constructor(
    private readonly connection: Pick<Redis, 'get' | 'set'>,
    private readonly guard: Pick<RedisGuard, 'run'>,
    private readonly prefix: string,
    private readonly clock: Clock,
  ) {
    super();
  }

  atHand(): null {
    return null;
  }

  async get(key: string): Promise<CachedAnswer | null> {
    const answer = await this.getStale(key);
    return answer !== null && answer.expiresAt > this.clock.now() ? answer : null;
  }

  async getStale(key: string): Promise<CachedAnswer | null> {
    try {
      const text = await this.guard.run(() => this.connection.get(this.keyOf(key)));
      const answer = text === null ? null : decode(text);
      return answer !== null && keptUntil(answer) > this.clock.now() ? answer : null;
    } catch {
      return null;
    }
  }

  async set(key: string, answer: CachedAnswer): Promise<void> {
    const ttlMs = Math.ceil(keptUntil(answer) - this.clock.now());
    if (ttlMs <= 0) return;
    await this.guard
      .run(() => this.connection.set(this.keyOf(key), encode(answer), 'PX', ttlMs))
      .catch(() => undefined);
  }

  private keyOf(key: string): string {
    return `${this.prefix}:cache:exact:${key}`;
  }
}
