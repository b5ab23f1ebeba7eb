import { randomUUID } from 'node:crypto';
import { Journal, type Observed } from '@spillway/contracts';
import { RedisConnections, RedisGuard } from '@spillway/redis';
import { ManualClock } from '../../../../test/support/manual-clock';
import { redisTimeoutMs } from '../../../../test/support/open-redis';
import { AdaptiveLimits, type EndedCall } from './adaptive-limits';
import { MemoryAdaptiveStore, RedisAdaptiveStore, type AdaptiveStore } from './adaptive-store';

const MODELS = { isConfigured: (name: string) => name !== 'invented', isAdaptive: (name: string) => name !== 'fixed' };
const overload = (kind: Observed['overload']): Observed => ({ overload: kind, retryAfterMs: null, limits: null });

function ended(ms: number, changes: Partial<EndedCall> = {}): EndedCall {
  const journal = new Journal();
  journal.upstreamMs = ms;
  return {
    call: { streaming: false, operation: 'chat', journal },
    end: 'success',
    usage: { input: 100, output: 50 },
    observed: undefined,
    reserved: 600,
    ...changes,
  };
}

describe.each(['memory', 'redis'])('limits of what models bear, kept in %s', kind => {
  const clock = new ManualClock();
  let connections: RedisConnections;
  let guard: RedisGuard;
  let store: AdaptiveStore;
  let passed = 0;

  beforeAll(async () => {
    const url = process.env['SPILLWAY_TEST_REDIS_URL'] ?? '';
    connections = new RedisConnections({ url, prefix: `adaptive-${randomUUID()}`, timeoutMs: redisTimeoutMs(url) });
    guard = new RedisGuard(connections);
    await guard.onModuleInit();
  });

  afterAll(async () => {
    guard.onApplicationShutdown();
    await connections.onApplicationShutdown();
  });

  /** Redis goes by a clock of its own, so what it tells is moved on. */
  beforeEach(() => {
    passed = 0;
    const real = kind === 'memory' ? new MemoryAdaptiveStore(clock) : new RedisAdaptiveStore(connections, guard);
    store = {
      exchange: async (used, moves) => {
        const known = await real.exchange(used, moves);
        return { ...known, now: kind === 'memory' ? known.now : known.now + passed };
      },
    };
    return connections
      .get('commands')
      .del(...['adaptive:1', 'first-used'].map(key => `{${connections.prefix}}:${key}`));
  });

  const pass = (ms: number): void => {
    passed += ms;
    clock.time += ms;
  };
  const learnMany = (limits: AdaptiveLimits, calls: number, one: EndedCall, model = 'm'): void => {
    for (let call = 0; call < calls; call++) limits.learn(model, one);
  };
  const exchange = async (limits: AdaptiveLimits, inflight = 40): Promise<void> => {
    pass(2_000);
    await limits.exchange(async () => ({ m: inflight }));
  };
  const overloaded = async (limits: AdaptiveLimits): Promise<void> => {
    learnMany(limits, 100, ended(400));
    await exchange(limits);
    for (let time = 0; time < 2; time++) {
      learnMany(limits, 50, ended(1_200));
      await exchange(limits);
    }
  };

  it('are shared by processes', async () => {
    const [one, other] = [new AdaptiveLimits(store, MODELS), new AdaptiveLimits(store, MODELS)];
    await overloaded(one);
    expect(one.limitOf('m')).toBe(22);
    expect(one.slownessOf('m')).toBeCloseTo(3);
    expect(other.limitOf('m')).toBeNull();
    await exchange(other);
    expect(other.limitOf('m')).toBe(22);
    expect(other.slownessOf('m')).toBeCloseTo(3);
    learnMany(other, 50, ended(400));
    await exchange(other);
    await exchange(one);
    expect(one.limitOf('m')).toBe(other.limitOf('m'));
    expect(one.limitOf('m')).toBeGreaterThan(22);
  });

  it('are moved by one process at a time; the other keeps what it saw', async () => {
    const [one, other] = [new AdaptiveLimits(store, MODELS), new AdaptiveLimits(store, MODELS)];
    await overloaded(one);
    await exchange(other);
    learnMany(one, 50, ended(1_200));
    learnMany(other, 50, ended(1_300));
    pass(2_000);
    const inflight = async () => ({ m: 22 });
    await Promise.all([one.exchange(inflight), other.exchange(inflight)]);
    expect([one.limitOf('m'), other.limitOf('m')]).toEqual([17, 17]);
    await exchange(one, 17);
    await exchange(other, 17);
    expect(Math.min(one.limitOf('m') ?? 0, other.limitOf('m') ?? 0)).toBeLessThan(17);
  });

  it('learn of failures that tell of too many calls, and of no others', async () => {
    const limits = new AdaptiveLimits(store, MODELS);
    const dropsOf = async (one: EndedCall): Promise<number | null> => {
      for (let time = 0; time < 2; time++) {
        learnMany(limits, 50, ended(400));
        learnMany(limits, 10, one);
        await exchange(limits);
      }
      return limits.limitOf('m');
    };
    for (const kind of ['requests', 'tokens', 'slope', 'rate-limit'] as const) {
      expect(await dropsOf(ended(1, { end: 'dropped', observed: overload(kind) }))).toBeNull();
    }
    expect(await dropsOf(ended(1, { end: 'ignored' }))).toBeNull();
    expect(await dropsOf(ended(1, { end: 'dropped', observed: overload('overloaded') }))).toBe(36);
  });

  it('learn nothing of how long a model took from callers that left', async () => {
    const limits = new AdaptiveLimits(store, MODELS);
    learnMany(limits, 100, ended(400));
    await exchange(limits);
    learnMany(limits, 50, ended(5_000, { end: 'ignored' }));
    await exchange(limits);
    expect(limits.slownessOf('m')).toBeCloseTo(1);
  });

  it('time streams to their first content', async () => {
    const limits = new AdaptiveLimits(store, MODELS);
    const streamed = (first: number, whole: number): EndedCall => {
      const one = ended(whole);
      one.call.journal.firstContentMs = first;
      return { ...one, call: { ...one.call, streaming: true } };
    };
    learnMany(limits, 100, streamed(300, 2_000));
    await exchange(limits);
    learnMany(limits, 50, streamed(300, 60_000));
    await exchange(limits);
    expect(limits.slownessOf('m')).toBeCloseTo(1);
  });

  it('are of configured models that have none; the first use of all of these is remembered', async () => {
    const limits = new AdaptiveLimits(store, MODELS);
    for (const model of ['fixed', 'invented']) learnMany(limits, 100, ended(400), model);
    await limits.exchange(() => Promise.reject(new Error('nothing to move')));
    const first = limits.firstUseOf('fixed');
    expect(first).not.toBeNull();
    expect(limits.firstUseOf('invented')).toBeNull();
    expect(limits.firstUseOf('m')).toBeNull();
    learnMany(limits, 1, ended(400), 'fixed');
    await exchange(limits);
    const after = new AdaptiveLimits(store, MODELS);
    await exchange(after);
    expect(after.firstUseOf('fixed')).toBe(first);
  });

  it('begin again when what was known is lost', async () => {
    const limits = new AdaptiveLimits({ exchange: (...what) => store.exchange(...what) }, MODELS);
    await overloaded(limits);
    expect(limits.limitOf('m')).not.toBeNull();
    store = new MemoryAdaptiveStore(clock);
    await exchange(limits);
    expect(limits.limitOf('m')).toBeNull();
  });
});
