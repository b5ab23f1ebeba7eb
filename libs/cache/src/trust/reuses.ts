import { LRUCache } from 'lru-cache';
import type { Redis, RedisGuard } from '@spillway/redis';

/** An answer that was given to another question than its own. */
export interface Reuse {
  readonly route: string;
  /** Of the kept question. */
  readonly partition: string;
  readonly asked: string;
  readonly kept: string;
  /** On whose word: that of the guard, or of experience. */
  readonly role: 'hit' | 'learned';
}

const REMEMBERED = 10_000;
const REMEMBERED_S = 86_400;

/** Which answers were reused for which calls, so that somebody may say later that one was wrong. Never fails. */
export abstract class Reuses {
  abstract remember(requestId: string, reuse: Reuse): void;

  /** Null where nothing is known of it any more. */
  abstract find(requestId: string): Promise<Reuse | null>;
}

/** The latest of this process. */
export class MemoryReuses extends Reuses {
  private readonly latest = new LRUCache<string, Reuse>({ max: REMEMBERED });

  remember(requestId: string, reuse: Reuse): void {
    this.latest.set(requestId, reuse);
  }

  async find(requestId: string): Promise<Reuse | null> {
    return this.latest.get(requestId) ?? null;
  }
}

/** Those of all processes on one Redis, for a day. */
export class RedisReuses extends Reuses {
  constructor(
    private readonly connection: Redis,
    private readonly guard: Pick<RedisGuard, 'run'>,
    private readonly prefix: string,
  ) {
    super();
  }

  remember(requestId: string, reuse: Reuse): void {
    const value = JSON.stringify(reuse);
    const kept = this.guard.run(() => this.connection.set(this.keyOf(requestId), value, 'EX', REMEMBERED_S));
    void kept.catch(() => undefined);
  }

  async find(requestId: string): Promise<Reuse | null> {
    const text = await this.guard.run(() => this.connection.get(this.keyOf(requestId))).catch(() => null);
    return text === null ? null : (JSON.parse(text) as Reuse);
  }

  private keyOf(requestId: string): string {
    return `${this.prefix}:cache:reuse:${requestId}`;
  }
}
