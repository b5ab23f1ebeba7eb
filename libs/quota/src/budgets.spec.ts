import { deepStrictEqual } from 'node:assert';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { RedisConnections, type Redis, type RedisGuard } from '@spillway/redis';
import { ManualClock } from '../../../test/support/manual-clock';
import type { Grant } from './permits';
import type { ModelLimits } from './limits';
import { MemoryBudgets } from './memory-budgets';
import { RedisBudgets } from './redis-budgets';

const TIMINGS = { leaseMs: 9000, claimMs: 4000 };

let connections: RedisConnections;

beforeAll(async () => {
  connections = new RedisConnections({ url: process.env['SPILLWAY_TEST_REDIS_URL'] ?? '', prefix: 'budgets' });
  await connections.ready();
});
afterAll(() => connections.onApplicationShutdown());

function limited(limits: Partial<ModelLimits['limits']>): ModelLimits {
  return { limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0, ...limits }, headroom: 0 };
}

/** The same budgets in Redis and in memory, both by the clock of the test. */
class Twins {
  readonly clock = new ManualClock();
  readonly memory: MemoryBudgets;
  readonly redis: RedisBudgets;
  readonly prefix = `budgets-${randomUUID()}`;
  granted: Grant[] = [];
  private calls = 0;

  constructor(limitsOf: (budget: string) => ModelLimits | null) {
    this.memory = new MemoryBudgets({ limitsOf }, this.clock, TIMINGS);
    this.redis = new RedisBudgets(this.clockedRedis(), { limitsOf }, TIMINGS);
  }

  async admit(budgets: readonly string[], tokens: number): Promise<string> {
    const request = { ticket: `c${this.calls++}`, budgets, tokens };
    const admission = await this.redis.admit(request);
    deepStrictEqual(admission, await this.memory.admit(request));
    if (admission.kind === 'granted') this.granted.push(...admission.grants);
    return admission.kind;
  }

  async end(pick: number, how: (budgets: MemoryBudgets | RedisBudgets, grant: Grant) => Promise<void>): Promise<void> {
    const [grant] = this.granted.splice(pick % Math.max(1, this.granted.length), 1);
    if (grant === undefined) return;
    await how(this.redis, grant);
    await how(this.memory, grant);
  }

  async forgetUnused(): Promise<void> {
    await this.redis.forgetUnused();
    await this.memory.forgetUnused();
  }

  /** How many fields the state in Redis has: of budgets, of buckets. */
  fields(): Promise<readonly number[]> {
    const keys = ['law', 'buckets'].map(key => `{${this.prefix}:budgets}:${key}`);
    return Promise.all(keys.map(key => connections.get('commands').hlen(key)));
  }

  /** The real Redis, but for the command by which scripts ask for the time. */
  private clockedRedis(): ConstructorParameters<typeof RedisBudgets>[0] {
    const redis = connections.get('commands');
    const key = `{${this.prefix}:budgets}:clock`;
    const clock = `{ redis.call('HGET', '${key}', 's'), redis.call('HGET', '${key}', 'us') }`;
    const run = async (lua: string, ...rest: [number, ...string[]]): Promise<unknown> => {
      await redis.hset(key, { s: Math.floor(this.clock.time / 1000), us: (this.clock.time % 1000) * 1000 });
      return redis.eval(lua.replace("redis.call('TIME')", clock), ...rest);
    };
    const law = { evalsha: () => Promise.reject(new Error('NOSCRIPT')), eval: run } as unknown as Redis;
    return {
      connections: { prefix: this.prefix, timeoutMs: 100, get: () => law } as unknown as RedisConnections,
      guard: { run: (use: () => Promise<unknown>) => use() } as unknown as RedisGuard,
    };
  }
}

const limit = (max: number): fc.Arbitrary<number> => fc.oneof(fc.constant(0), fc.integer({ min: 1, max }));
const limits = fc.record({ rpm: limit(12), tpm: limit(600), tpd: limit(3000), inflight: limit(5) }).map(limited);
const step = fc.record({
  what: fc.oneof(
    { weight: 8, arbitrary: fc.constant('admit' as const) },
    { weight: 3, arbitrary: fc.constantFrom('release' as const, 'pass' as const) },
    { weight: 1, arbitrary: fc.constantFrom('withdraw' as const, 'sweep' as const) },
  ),
  budgets: fc.constantFrom(['k'], ['u'], ['k', 'u']),
  pick: fc.nat(),
  tokens: fc.nat(90),
  ms: fc.oneof({ weight: 5, arbitrary: fc.nat(3000) }, { weight: 1, arbitrary: fc.nat(70_000) }),
});

describe('budgets', () => {
  it('are decided alike in Redis and in memory', async () => {
    const seen = { granted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(limits, limits, fc.array(step, { minLength: 30, maxLength: 80 }), async (k, u, steps) => {
        const twins = new Twins(budget => ({ k, u })[budget] ?? null);
        for (const { what, budgets, pick, tokens, ms } of steps) {
          if (what === 'admit') seen[(await twins.admit(budgets, tokens)) as keyof typeof seen]++;
          else if (what === 'pass') twins.clock.time += ms;
          else if (what === 'sweep') await twins.forgetUnused();
          else if (what === 'withdraw') await twins.end(pick, (side, grant) => side.withdraw(grant));
          else await twins.end(pick, (side, grant) => side.release(grant, pick % 3 ? tokens : null));
        }
      }),
      { numRuns: 40, endOnFailure: true },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
  });

  it('are forgotten when nobody uses them and nothing is counted any more', async () => {
    const user = limited({ rpm: 20 });
    const twins = new Twins(() => user);
    for (let call = 0; call < 600; call++) {
      if (call === 500) twins.clock.time += 40_000;
      await twins.admit([`user:${call}`], 0);
    }
    await twins.admit(['busy'], 0);
    const busy = twins.granted.pop();
    while (twins.granted.length > 0) await twins.end(0, (side, grant) => side.release(grant, 0));
    await twins.forgetUnused();
    expect(twins.memory.size).toBe(601);
    expect(await twins.fields()).toEqual([2 * 601, 0]);

    twins.clock.time += 30_000;
    if (busy !== undefined) for (const side of [twins.redis, twins.memory]) await side.renew([busy]);
    for (let time = 0; time < 20; time++) await twins.forgetUnused();
    expect(twins.memory.size).toBe(101);
    expect(await twins.fields()).toEqual([2 * 101, 0]);

    twins.clock.time += 3_600_000;
    await twins.admit(['another'], 0);
    for (let time = 0; time < 20; time++) await twins.forgetUnused();
    expect(twins.memory.size).toBe(1);
    expect(await twins.fields()).toEqual([2, 0]);
  });

  it('leave no bucket behind', async () => {
    const twins = new Twins(() => limited({ rpm: 50 }));
    for (let call = 0; call < 20; call++) {
      twins.clock.time += 1000;
      await twins.admit(['k'], 0);
      await twins.end(0, (side, grant) => side.release(grant, 0));
    }
    expect((await twins.fields())[1]).toBeGreaterThan(10);
    twins.clock.time += 61_000;
    await twins.forgetUnused();
    expect(await twins.fields()).toEqual([0, 0]);
  });
});
