import { randomUUID } from 'node:crypto';
import { SystemClock, type Priority } from '@spillway/contracts';
import {
  MemoryPermits,
  RedisPermits,
  type ModelLimits,
  type Permits,
  type PermitTimings,
  type Shares,
} from '@spillway/quota';
import type { WaitRequest } from '@spillway/quota';
import { RedisChannels } from '@spillway/redis';
import { openRedis, type OpenRedis } from './open-redis';

/** Longer than any test. */
export const LONG_TIMINGS: PermitTimings = { leaseMs: 30_000, claimMs: 30_000 };
/** Short enough to wait for. */
export const SHORT_TIMINGS: PermitTimings = { leaseMs: 1_200, claimMs: 900 };
export const FULL_SHARES: Shares = {
  critical: { share: 1, min_share: 0 },
  normal: { share: 1, min_share: 0 },
  low: { share: 1, min_share: 0 },
};

/** Limits that a test may change at any time; nothing but what it names is limited. */
class TestLimits {
  classes: Shares = FULL_SHARES;
  private readonly models = new Map<string, ModelLimits>();

  set(model: string, limits: Partial<ModelLimits['limits']>, more: Partial<Omit<ModelLimits, 'limits'>> = {}): void {
    this.models.set(model, { headroom: 0, ...more, limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0, ...limits } });
  }

  limitsOf(model: string): ModelLimits | null {
    return this.models.get(model) ?? null;
  }

  shares(): Shares {
    return this.classes;
  }
}

/** The same permits as several processes see them. */
export interface PermitWorld {
  /** Starts the keys of this world. */
  readonly prefix: string;
  readonly limits: TestLimits;
  /** A view of its own; the same object each time where permits are not shared. */
  process(): Promise<Permits>;
  /** Ends a process without warning: it shows no more sign of life and hears nothing. */
  crash(permits: Permits): void;
  stop(): Promise<void>;
}

function memoryWorld(timings = LONG_TIMINGS): PermitWorld {
  const limits = new TestLimits();
  const permits = new MemoryPermits(limits, new SystemClock(), timings);
  return {
    prefix: '',
    limits,
    process: async () => permits,
    crash: () => permits.onApplicationShutdown(),
    stop: async () => permits.onApplicationShutdown(),
  };
}

export function redisWorld(url: string, timings = LONG_TIMINGS, prefix = `permits-${randomUUID()}`): PermitWorld {
  const limits = new TestLimits();
  const all: { permits: RedisPermits; redis: OpenRedis }[] = [];
  return {
    prefix,
    limits,
    process: async () => {
      const redis = await openRedis(prefix, url);
      const parts = { ...redis, channels: new RedisChannels(redis.connections) };
      const permits = new RedisPermits(parts, limits, new SystemClock(), `p${all.length}`, timings);
      all.push({ permits, redis });
      return permits;
    },
    crash: permits => (permits as RedisPermits).onApplicationShutdown(),
    stop: async () => {
      for (const { permits } of all) permits.onApplicationShutdown();
      await Promise.all(all.map(({ redis }) => redis.close()));
    },
  };
}

/** One for all, because two clocks of one machine may differ by a millisecond. */
const clock = new SystemClock();
let tickets = 0;

/** Every adapter of `Permits`, each time new. */
export const PERMIT_WORLDS: readonly (readonly [string, (timings?: PermitTimings) => PermitWorld])[] = [
  ['memory', memoryWorld],
  ['redis', timings => redisWorld(process.env['SPILLWAY_TEST_REDIS_URL'] ?? '', timings)],
];

export function waitRequest(priority: Priority, more: Partial<WaitRequest> = {}): WaitRequest {
  return {
    ticket: `t${tickets++}`,
    owner: 'owner',
    priority,
    models: ['m'],
    turnBy: clock.now() + 10_000,
    tokens: 10,
    ...more,
  };
}

export const until = async (condition: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> => {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('waited in vain');
    await new Promise(resolve => setTimeout(resolve, 5));
  }
};
