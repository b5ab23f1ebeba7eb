import { randomUUID } from 'node:crypto';
import { SystemClock } from '@spillway/contracts';
import { HealthStore, MemoryHealthStore, ModelHealth, RedisHealthStore, type Outcome } from '@spillway/health';
import { RedisChannels } from '@spillway/redis';
import { BREAKER } from '../support/breaker';
import { openRedis, type OpenRedis } from '../support/open-redis';
import { until } from '../support/permits';

const SETTINGS = { ...BREAKER, open_min_s: 0.05, open_max_s: 1 };
const clock = new SystemClock();

interface World {
  /** A store as one more process sees it. */
  process(): Promise<HealthStore>;
  stop(): Promise<void>;
}

function memoryWorld(): World {
  const store = new MemoryHealthStore(clock);
  return { process: async () => store, stop: async () => undefined };
}

function redisWorld(): World {
  const prefix = `health-${randomUUID()}`;
  const open: OpenRedis[] = [];
  return {
    process: async () => {
      const redis = await openRedis(prefix);
      open.push(redis);
      return new RedisHealthStore({ ...redis, channels: new RedisChannels(redis.connections) });
    },
    stop: async () => {
      await Promise.all(open.map(redis => redis.close()));
    },
  };
}

const WORLDS: readonly (readonly [string, () => World])[] = [
  ['memory', memoryWorld],
  ['redis', redisWorld],
];

describe.each(WORLDS)('The health of models that processes share: %s', (_, makeWorld) => {
  let world: World;
  let one: ModelHealth;
  let other: ModelHealth;
  let told: string[];

  const process = async (hears = true): Promise<ModelHealth> => {
    const store = await world.process();
    const health = new ModelHealth(store, { breakerOf: name => (name === 'm' ? SETTINGS : undefined) }, clock);
    health.onChange((model, before, after) => told.push(`${model} ${before.state.kind} ${after.state.kind}`));
    if (hears) store.onChange(() => void health.refresh());
    return health;
  };
  beforeEach(async () => {
    world = makeWorld();
    told = [];
    [one, other] = [await process(), await process()];
  });
  afterEach(() => world.stop());

  const outcome = (weight: number): Outcome => {
    const now = clock.now();
    const finding = { kind: 'counted', weight } as const;
    return { startedAt: now, at: now, finding, operation: 'chat', retryAfterMs: null, latency: null };
  };
  const report = (health: ModelHealth, count: number, weight: number): void => {
    for (let made = 0; made < count; made++) health.report('m', outcome(weight));
  };
  const callsIn = (health: ModelHealth): number =>
    health.recordOf('m').window.reduce((sum, [, calls]) => sum + calls, 0);

  it('counts every call of every process once, also when they share at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      report(one, 7, 0);
      report(other, 5, 0);
      await Promise.all([one.flush(), other.flush()]);
    }
    await Promise.all([one.refresh(), other.refresh()]);
    expect([callsIn(one), callsIn(other)]).toEqual([240, 240]);
  });

  it('joins failures in a row of several processes, tells of it once, and lets all know at once', async () => {
    report(one, 5, 1);
    await one.flush();
    await other.refresh();
    report(other, 5, 1);
    await until(() => one.viewOf('m')?.state.kind === 'open');
    expect(other.viewOf('m')?.state.kind).toBe('open');
    expect(told).toEqual(['m closed open']);
  });

  it('gives a probe to one of those that ask for it at the same time', async () => {
    report(one, 10, 1);
    await one.flush();
    await other.refresh();
    await until(() => one.isProbeDue('m') && other.isProbeDue('m'));
    const claims = await Promise.all([one.claimProbe('m', 5_000), other.claimProbe('m', 5_000)]);
    expect(claims.filter(claimed => claimed)).toHaveLength(1);
    await Promise.all([one.refresh(), other.refresh()]);
    expect([one.isProbeDue('m'), other.isProbeDue('m')]).toEqual([false, false]);
  });

  it('gives the canary questions to one of those that ask for them, and tells all how they were answered', async () => {
    const claims = await Promise.all([one.claimCanary('m', 1_000), other.claimCanary('m', 1_000)]);
    expect(claims.filter(claimed => claimed)).toHaveLength(1);
    await Promise.all([one.refresh(), other.refresh()]);
    expect([one.isCanaryDue('m'), other.isCanaryDue('m')]).toEqual([false, false]);
    await one.tellCanary('m', { asked: 'a', scores: [{ score: 0.1, least: 0.5 }], nextInMs: 60_000, countMs: 60_000 });
    await other.refresh();
    expect([one.failsCanary('m'), other.failsCanary('m')]).toEqual([true, true]);
    expect([one.isCanaryDue('m'), other.isCanaryDue('m')]).toEqual([false, false]);
    await other.reset('m');
    expect([other.failsCanary('m'), other.isCanaryDue('m')]).toEqual([false, true]);
  });

  it('is not undone by a process that has not heard of it yet (row 51)', async () => {
    const before = clock.now();
    const behind = await process(false);
    await behind.refresh();
    one.report('m', { ...outcome(1), finding: { kind: 'barred', why: 'auth' } });
    await one.flush();
    await one.pause('m');
    // It knows neither, and its calls began before.
    for (let made = 0; made < 30; made++) behind.report('m', { ...outcome(0), startedAt: before - 1_000 });
    await behind.flush();
    await Promise.all([one.refresh(), behind.refresh()]);
    for (const health of [one, behind]) {
      expect(health.viewOf('m')).toMatchObject({ paused: true, state: { kind: 'open', why: 'auth' } });
    }
  });

  it('is there for a process that starts later, with its pause', async () => {
    await one.pause('m');
    report(one, 3, 0.5);
    await one.flush();
    const later = await process();
    await later.refresh();
    expect(later.viewOf('m')).toMatchObject({ paused: true, state: { kind: 'closed' } });
    expect(later.errorRateOf('m')).toBe(0.5);
    await later.resume('m');
    await until(() => one.viewOf('m')?.paused === false);
  });

  it('keeps nothing of models that are not configured', async () => {
    one.report('another', outcome(1));
    await one.flush();
    expect(one.viewOf('another')).toBeNull();
  });
});
