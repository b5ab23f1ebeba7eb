import { randomUUID } from 'node:crypto';
import { SystemClock } from '@spillway/contracts';
import { MemoryBudgets, RedisBudgets, type Budgets, type ModelLimits, type PermitTimings } from '@spillway/quota';
import { openRedis, type OpenRedis } from './open-redis';
import { LONG_TIMINGS } from './permits';

/** The same budgets as several processes see them. */
export interface BudgetWorld {
  /** Limits a budget; nothing but what is named is limited. */
  limit(budget: string, limits: Partial<ModelLimits['limits']>): void;
  /** A view of its own; the same object each time where budgets are not shared. */
  process(): Promise<Budgets>;
  stop(): Promise<void>;
}

class TestLimits {
  readonly budgets = new Map<string, ModelLimits>();

  set(budget: string, limits: Partial<ModelLimits['limits']>): void {
    this.budgets.set(budget, { limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0, ...limits }, headroom: 0 });
  }

  limitsOf(budget: string): ModelLimits | null {
    return this.budgets.get(budget) ?? null;
  }
}

export function memoryBudgets(timings: PermitTimings = LONG_TIMINGS): BudgetWorld {
  const limits = new TestLimits();
  const budgets = new MemoryBudgets(limits, new SystemClock(), timings);
  return {
    limit: (budget, values) => limits.set(budget, values),
    process: async () => budgets,
    stop: async () => undefined,
  };
}

export function redisBudgets(url: string, timings: PermitTimings = LONG_TIMINGS): BudgetWorld {
  const limits = new TestLimits();
  const prefix = `budgets-${randomUUID()}`;
  const all: OpenRedis[] = [];
  return {
    limit: (budget, values) => limits.set(budget, values),
    process: async () => {
      const redis = await openRedis(prefix, url);
      all.push(redis);
      return new RedisBudgets(redis, limits, timings);
    },
    stop: async () => {
      await Promise.all(all.map(redis => redis.close()));
    },
  };
}
