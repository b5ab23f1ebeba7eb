import type { Observed } from '@spillway/contracts';
import type { Grant, ModelLimits, Permits } from '@spillway/quota';
import { PERMIT_WORLDS, until, waitRequest, type PermitWorld } from '../support/permits';

const EXPRESS = { express: true, queueLimit: 10_000 };
const QUEUED = { express: false, queueLimit: 10_000 };
const CLIMB: NonNullable<ModelLimits['climb']> = {
  mode: 'auto',
  initial_rps: 5,
  max_rps: 0,
  burst_s: 1,
  interval_s: 0.1,
  strict_error_ratio: 0.05,
  relax_error_ratio: 0.01,
  probe_ratio: 0.2,
  fast_probe_ratio: 0.5,
};
const told = (more: Partial<Observed>): Observed => ({ overload: null, retryAfterMs: null, limits: null, ...more });

describe.each(PERMIT_WORLDS)('What permits learn from answers: %s', (_, makeWorld) => {
  let world: PermitWorld;
  let permits: Permits;
  let grants: Grant[];

  beforeEach(async () => {
    world = makeWorld();
    permits = await world.process();
    grants = [];
    permits.onGrant(grant => grants.push(grant));
  });
  afterEach(() => world.stop());

  const learn = (climb: Partial<typeof CLIMB> = {}, limits = {}): void =>
    world.limits.set('m', limits, { climb: { ...CLIMB, ...climb } });
  const take = async (): Promise<Grant> => {
    const entry = await permits.enter(waitRequest('normal'), EXPRESS);
    if (entry.kind !== 'granted') throw new Error(entry.kind);
    return entry.grant;
  };
  /** Enters until one must wait, and withdraws that one. */
  const room = async (atMost = 100): Promise<number> => {
    for (let count = 0; count < atMost; count++) {
      const request = waitRequest('normal');
      if ((await permits.enter(request, EXPRESS)).kind === 'granted') continue;
      await permits.withdraw(request.ticket);
      return count;
    }
    return Infinity;
  };
  const wait = async (): Promise<string> => {
    const request = waitRequest('critical');
    await permits.enter(request, QUEUED);
    await permits.reach(request.ticket);
    return request.ticket;
  };

  it('keeps to what remained until the reset, and wakes who waits then', async () => {
    learn();
    const [first, second] = [await take(), await take()];
    const limits = { requests: { limit: 10, remaining: 4, resetMs: 1_200 } };
    await permits.release(first, 'success', null, told({ limits }));
    expect(await room()).toBe(3);
    await permits.release(second, 'success', null, told({ limits: { requests: { remaining: 0, resetMs: 800 } } }));
    const ticket = await wait();
    expect(await permits.explain('m')).toMatchObject({
      binds: { limit: 'observed-requests', inMs: expect.any(Number) },
      learned: { observed: { requests: { left: 0, limit: null } } },
    });
    expect(grants).toEqual([]);
    await until(() => grants.some(grant => grant.ticket === ticket));
  });

  it('keeps to the tokens that remained', async () => {
    learn();
    const limits = { tokens: { remaining: 25, resetMs: 5000 } };
    await permits.release(await take(), 'success', null, told({ limits }));
    expect(await room()).toBe(2);
    await wait();
    expect((await permits.explain('m')).binds?.limit).toBe('observed-tokens');
  });

  it('leaves a model alone as long as it asked for, and says so to who enters', async () => {
    learn({ mode: 'off' });
    const [first, second] = [await take(), await take()];
    await permits.release(first, 'dropped', null, told({ overload: 'requests', retryAfterMs: 1_000 }));
    await permits.release(second, 'dropped', null, told({ overload: 'requests', retryAfterMs: 100 }));
    const ticket = await wait();
    const { binds } = await permits.explain('m');
    expect(binds?.limit).toBe('retry-after');
    expect(binds?.inMs).toBeGreaterThan(200);
    const entry = await permits.enter(waitRequest('normal'), EXPRESS);
    expect(entry).toMatchObject({ kind: 'queued', estimateMs: expect.any(Number) });
    await until(() => grants.some(grant => grant.ticket === ticket));
  });

  it('uses the next model of the chain meanwhile', async () => {
    learn();
    world.limits.set('n', {}, { climb: CLIMB });
    await permits.release(await take(), 'dropped', null, told({ overload: 'requests', retryAfterMs: 5000 }));
    const entry = await permits.enter(waitRequest('normal', { models: ['m', 'n'] }), EXPRESS);
    expect(entry).toMatchObject({ kind: 'granted', grant: { model: 'n' } });
  });

  it('has no ceiling until the first overload, then climbs, and remembers', async () => {
    learn({ interval_s: 0.2 });
    const calls: Grant[] = [];
    for (let at = 0; at < 12; at++) calls.push(await take());
    expect((await permits.explain('m')).learned).toMatchObject({ mode: 'auto', rate: null });
    await permits.release(calls[0] ?? (await take()), 'dropped', null, told({ overload: 'overloaded' }));
    expect((await permits.explain('m')).learned).toMatchObject({ rate: 11, why: 'overload' });
    expect(await room()).toBeLessThanOrEqual(4);
    for (const call of calls.slice(1)) await permits.release(call, 'dropped', null, told({ overload: 'overloaded' }));
    await new Promise(resolve => setTimeout(resolve, 220));
    await room();
    const fallen = (await permits.explain('m')).learned?.rate;
    // Not one of them was taken.
    expect(fallen).toBe(1);
    const other = await world.process();
    expect((await other.explain('m')).learned?.rate).toBe(fallen);
    await until(async () => {
      await room();
      return ((await permits.explain('m')).learned?.rate ?? 0) > 15;
    }, 10_000);
  });

  it('starts at its first rate where the climber is on', async () => {
    learn({ mode: 'on', interval_s: 60 });
    expect((await permits.explain('m')).learned).toMatchObject({ mode: 'on', rate: 5, why: null });
    expect(await room()).toBeGreaterThanOrEqual(5);
    await wait();
    expect((await permits.explain('m')).binds?.limit).toBe('climb');
    await until(() => grants.length === 1);
  });

  it('does not grow after a signal of the slope', async () => {
    learn({ mode: 'on' });
    await permits.release(await take(), 'dropped', null, told({ overload: 'slope' }));
    const rates: number[] = [];
    for (let at = 0; at < 10; at++) {
      await room();
      await new Promise(resolve => setTimeout(resolve, 20));
      rates.push((await permits.explain('m')).learned?.rate ?? 0);
    }
    expect(Math.max(...rates)).toBeLessThanOrEqual(5);
    await until(async () => {
      await room();
      return ((await permits.explain('m')).learned?.rate ?? 0) > 5;
    });
  });

  it('learns nothing from faults of callers, and nothing of models that are not configured', async () => {
    learn({ mode: 'on' });
    for (let at = 0; at < 3; at++) await permits.release(await take(), 'ignored', null);
    await new Promise(resolve => setTimeout(resolve, 120));
    await room();
    expect((await permits.explain('m')).learned?.why).not.toBe('fell');
    const entry = await permits.enter(waitRequest('low', { models: ['whatever'] }), EXPRESS);
    if (entry.kind !== 'granted') throw new Error(entry.kind);
    await permits.release(entry.grant, 'dropped', null, told({ overload: 'requests', retryAfterMs: 5000 }));
    expect((await permits.enter(waitRequest('low', { models: ['whatever'] }), EXPRESS)).kind).toBe('granted');
    expect((await permits.explain('whatever')).learned).toBeNull();
  });
});
