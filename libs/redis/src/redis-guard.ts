import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { withDeadline } from './deadline';
import { isDemoted, type RedisConnections } from './redis-connections';
import { reasonOfLoss, RedisUnavailable } from './redis-unavailable';

export type RedisState = 'ok' | 'lost';

const PROBE_EVERY_MS = 500;
/** At least. */
const PROBE_WITHIN_MS = 300;
/** After so long without an answer connections are made anew: one that has fallen silent may lead nowhere any more. */
const SILENT_MS = 2_000;
/** A Redis that is busy but answers others gets so many times the deadline. */
const BUSY_FACTOR = 2.5;

/**
 * The breaker in front of Redis. Every use has a deadline; the first that misses it opens the breaker, and from then
 * on uses fail at once until a probe succeeds. A probe runs every 500 ms, so that a loss shows without traffic.
 */
@Injectable()
export class RedisGuard implements OnModuleInit, OnApplicationShutdown {
  private current: RedisState = 'ok';
  private whyLost = '';
  private readonly listeners = new Set<(state: RedisState) => void>();
  private heardAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  /** The probe that has not been answered yet; a frozen Redis answers it the moment it thaws. */
  private pending: Promise<string | null> | null = null;
  private probedAt = 0;
  /** When the first use began that was not answered, nor was any since, not even late; null: there is none. */
  private missedAt: number | null = null;

  constructor(private readonly connections: RedisConnections) {}

  get state(): RedisState {
    return this.current;
  }

  /** Why it was lost the last time, in a word: `ECONNREFUSED`, `WRONGPASS`, `OOM`, `timeout`, … */
  get reason(): string {
    return this.whyLost;
  }

  onStateChange(listener: (state: RedisState) => void): void {
    this.listeners.add(listener);
  }

  /**
   * Runs one use of Redis.
   * @throws RedisUnavailable when Redis is lost or misses the deadline; an error in what was asked as it is.
   */
  async run<T>(use: () => Promise<T>, deadlineMs = this.connections.timeoutMs): Promise<T> {
    if (this.current === 'lost') throw new RedisUnavailable('lost');
    const askedAt = performance.now();
    let work: Promise<T> | null = null;
    try {
      work = use();
      let result: T;
      // In here and not in a function of its own: each layer of promises costs every command of every call.
      try {
        result = await withDeadline(work, deadlineMs);
      } catch (error) {
        if (!(error instanceof RedisUnavailable) || this.heardAt < askedAt) throw error;
        result = await withDeadline(work, deadlineMs * (BUSY_FACTOR - 1));
      }
      this.heardAt = performance.now();
      return result;
    } catch (error) {
      throw this.meaningOf(error, Math.max(askedAt, performance.now() - deadlineMs), work);
    }
  }

  /** Silence opens the breaker; a burst that Redis is working through only costs the calls that it takes too long. */
  private meaningOf(error: unknown, silentSince: number, work: Promise<unknown> | null): unknown {
    if (error instanceof RedisUnavailable) {
      if (this.heardAt < silentSince) {
        this.lose(error.reason);
        this.miss(silentSince, work);
      }
      return error;
    }
    const reason = reasonOfLoss(error);
    if (reason === null) return error;
    this.lose(reason);
    return new RedisUnavailable(reason);
  }

  /**
   * What Redis throws away when it is full; null: it does not say.
   * @throws RedisUnavailable
   */
  async evictionPolicy(): Promise<string | null> {
    const memory = await this.run(() => this.connections.get('commands').info('memory'));
    return /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? null;
  }

  async onModuleInit(): Promise<void> {
    await this.connections.ready();
    await this.probe();
    this.timer = setInterval(() => void this.probe(), PROBE_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.listeners.clear();
  }

  private async probe(): Promise<void> {
    if (this.pending === null) {
      this.probedAt = performance.now();
      this.pending = this.write().finally(() => {
        this.pending = null;
      });
    }
    const answer = this.pending;
    void answer.then(problem => problem !== null && this.lose(problem));
    const { timeoutMs } = this.connections;
    // One that answers later than uses wait would be lost again with the next of them.
    void withDeadline(answer, timeoutMs).then(
      problem => problem === null && this.become('ok'),
      () => undefined,
    );
    await withDeadline(answer, Math.max(PROBE_WITHIN_MS, timeoutMs)).catch(() => {
      this.lose('timeout');
      this.renewAfter(this.probedAt);
    });
  }

  /** Probes may be answered all the same: they have a connection of their own. */
  private miss(silentSince: number, work: Promise<unknown> | null): void {
    const heard = (): void => void (this.missedAt = null);
    work?.then(heard, () => undefined);
    if (this.missedAt === null || this.missedAt < this.heardAt) this.missedAt = silentSince;
    if (this.renewAfter(this.missedAt)) this.missedAt = null;
  }

  private renewAfter(silentSince: number): boolean {
    const isDue = performance.now() - silentSince >= SILENT_MS;
    if (isDue) this.connections.renew();
    return isDue;
  }

  /** Resolves to what is wrong, or null. A write, because a Redis that is full or read-only still answers a PING. */
  private write(): Promise<string | null> {
    return this.connections
      .get('probe')
      .set(`{${this.connections.prefix}}:probe`, '1', 'PX', PROBE_EVERY_MS * 4)
      .then(
        () => null,
        (error: Error) => {
          if (isDemoted(error)) this.connections.renew();
          return reasonOfLoss(error) ?? 'refused';
        },
      );
  }

  /** What a use of a broken connection meets says less than why there is no new one. */
  private lose(reason: string): void {
    if (this.current === 'ok') this.whyLost = this.connections.trouble ?? reason;
    this.become('lost');
  }

  private become(state: RedisState): void {
    if (this.current === state) return;
    this.current = state;
    for (const listener of this.listeners) listener(state);
  }
}
