import { randomUUID } from 'node:crypto';
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { defineScript, type Redis, type RedisGuard } from '@spillway/redis';
import { CacheGenerations } from './cache-generations';
import { CLEAR_CACHE } from './clear-cache.lua';
import { ClearingLog, MOST_CLEARINGS, nameOf, type Clearing } from './clearing-log';

/** How long a clearing elsewhere may go unnoticed. */
const REFRESH_EVERY_MS = 500;

const clearCache = defineScript('clear-cache', CLEAR_CACHE, 1);

/**
 * The generations of all processes on one Redis. Each process knows them, so that a lookup costs no round trip, and
 * reads twice a second what is new.
 */
export class RedisGenerations extends CacheGenerations implements OnModuleInit, BeforeApplicationShutdown {
  private readonly log = new ClearingLog();
  private readonly key: string;
  /** Until the clearings are known, a generation of this process alone: nothing cleared can be found under it. */
  private provisional: string | null = randomUUID();
  /** The newest sequence number that was read. */
  private read = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: Redis,
    private readonly guard: Pick<RedisGuard, 'run'>,
    prefix: string,
  ) {
    super();
    this.key = `${prefix}:cache:clearings`;
  }

  current(route: string, scope: string): string {
    return this.provisional ?? String(this.log.generation(route, scope));
  }

  /** @throws RedisUnavailable; whether it is cleared is then not known. */
  async clear(what: Clearing): Promise<void> {
    const values = [nameOf(what), nameOf({}), MOST_CLEARINGS];
    const cleared = await this.guard.run(() => clearCache.run(this.connection, [this.key], values));
    const [name, sequence] = cleared as [string, number];
    this.log.add(name, sequence);
  }

  async onModuleInit(): Promise<void> {
    await this.tryRefresh();
    this.timer = setInterval(() => void this.tryRefresh(), REFRESH_EVERY_MS).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** A lost Redis is reported by its guard; the next try comes soon. */
  private tryRefresh(): Promise<void> {
    return this.refresh().catch(() => undefined);
  }

  private async refresh(): Promise<void> {
    const since = `(${this.read}`;
    const found = await this.guard.run(() => this.connection.zrangebyscore(this.key, since, '+inf', 'WITHSCORES'));
    for (let index = 0; index < found.length; index += 2) {
      this.read = Number(found[index + 1]);
      this.log.add(found[index] ?? '', this.read);
    }
    this.provisional = null;
  }
}
