import type { Priority } from '@spillway/contracts';
import type { Entry, Grant, Permits } from '@spillway/quota';
import { FULL_SHARES, PERMIT_WORLDS, until, waitRequest, type PermitWorld } from '../support/permits';

const EXPRESS = { express: true, queueLimit: 10_000 };
const QUEUED = { express: false, queueLimit: 10_000 };
const SHARES = {
  critical: { share: 1, min_share: 0 },
  normal: { share: 0.9, min_share: 0.1 },
  low: { share: 0.7, min_share: 0.05 },
};

describe.each(PERMIT_WORLDS)('Limits of permits: %s', (_, makeWorld) => {
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

  const enter = (priority: Priority = 'normal', tokens = 10): Promise<Entry> =>
    permits.enter(waitRequest(priority, { tokens }), EXPRESS);
  const take = async (priority?: Priority, tokens?: number): Promise<Grant> => {
    const entry = await enter(priority, tokens);
    if (entry.kind !== 'granted') throw new Error(entry.kind);
    return entry.grant;
  };
  /** Enters until one must wait, and withdraws that one. */
  const room = async (priority: Priority, tokens?: number): Promise<number> => {
    for (let count = 0; ; count++) {
      const request = waitRequest(priority, { tokens: tokens ?? 10 });
      if ((await permits.enter(request, EXPRESS)).kind === 'granted') continue;
      await permits.withdraw(request.ticket);
      return count;
    }
  };
  const wait = async (priority: Priority, tokens = 10): Promise<string> => {
    const request = waitRequest(priority, { tokens });
    await permits.enter(request, QUEUED);
    expect((await permits.reach(request.ticket)).kind).toBe('waiting');
    return request.ticket;
  };

  it('keeps each limit on its own', async () => {
    world.limits.set('m', { rpm: 5 });
    expect(await room('normal', 1000)).toBe(5);
    world.limits.set('n', { tpm: 100 });
    const models = ['n'];
    const entries = [];
    for (let at = 0; at < 5; at++)
      entries.push(await permits.enter(waitRequest('low', { models, tokens: 30 }), EXPRESS));
    expect(entries.map(entry => entry.kind)).toEqual(['granted', 'granted', 'granted', 'queued', 'queued']);
  });

  it('does not let a call that has ended be followed by one more in the same minute', async () => {
    world.limits.set('m', { rpm: 2, inflight: 1 });
    for (let at = 0; at < 2; at++) await permits.release(await take(), 'success', { input: 1, output: 1 });
    expect((await enter()).kind).toBe('queued');
    expect(await permits.explain('m')).toMatchObject({ binds: { limit: 'rpm', inMs: expect.any(Number) } });
  });

  it('tells whom it makes wait or turns away when its windows admit again, and nothing where a call must end', async () => {
    world.limits.set('m', { rpm: 1 });
    await permits.release(await take(), 'success', { input: 1, output: 1 });
    const request = waitRequest('normal');
    const aboutAMinute = (ms: unknown): void => {
      expect(ms).toBeGreaterThan(50_000);
      expect(ms).toBeLessThanOrEqual(61_000);
    };
    for (const queued of [await permits.enter(request, EXPRESS), await enter()]) {
      aboutAMinute(queued.kind === 'queued' && queued.freeInMs);
      aboutAMinute(queued.kind === 'queued' && queued.estimateMs);
    }
    const full = await permits.enter(waitRequest('normal'), { express: true, queueLimit: 2 });
    aboutAMinute(full.kind === 'full' && full.retryAfterMs);
    world.limits.set('n', { inflight: 1 });
    const either = waitRequest('normal', { models: ['m', 'n'] });
    await permits.enter(waitRequest('normal', { models: ['n'] }), EXPRESS);
    expect(await permits.enter(either, QUEUED)).toMatchObject({ kind: 'queued', freeInMs: 0, estimateMs: null });
    // Whoever used its tokens may give some back.
    world.limits.set('o', { tpm: 10 });
    await permits.enter(waitRequest('normal', { models: ['o'] }), EXPRESS);
    const behind = await permits.enter(waitRequest('normal', { models: ['o'] }), EXPRESS);
    expect(behind).toMatchObject({ kind: 'queued', freeInMs: expect.any(Number), estimateMs: null });
  });

  it('gives back what was reserved too much, to who waits for it', async () => {
    world.limits.set('m', { tpm: 100 });
    const large = await take('normal', 90);
    const ticket = await wait('low', 50);
    await permits.release(large, 'success', { input: 20, output: 20 });
    await until(() => grants.some(grant => grant.ticket === ticket));
    expect((await permits.remaining('m')).tpm).toBe(10);
  });

  it('lets a wait go on once a limit has been raised, though nothing else happens', async () => {
    world.limits.set('m', { rpm: 1 });
    await permits.release(await take(), 'success', { input: 1, output: 1 });
    const ticket = await wait('normal');
    world.limits.set('m', { rpm: 2 });
    await until(() => grants.length > 0);
    expect(grants).toMatchObject([{ ticket, model: 'm' }]);
  });

  it('counts what was used beyond the reservation', async () => {
    world.limits.set('m', { tpm: 100, tpd: 500 });
    await permits.release(await take('normal', 10), 'success', { input: 30, output: 40 });
    expect(await permits.remaining('m')).toEqual({ tpm: 30, tpd: 430 });
  });

  it('books a call under way anew, and lets go who fits then', async () => {
    world.limits.set('m', { tpm: 100, tpd: 500 });
    const large = await take('normal', 90);
    const ticket = await wait('low', 50);
    await permits.rebook(large, 20);
    await until(() => grants.some(grant => grant.ticket === ticket));
    expect(await permits.remaining('m')).toEqual({ tpm: 30, tpd: 430 });
    await permits.rebook(large, 60);
    expect(await permits.remaining('m')).toEqual({ tpm: 0, tpd: 390 });
    await permits.release(large, 'success', { input: 5, output: 25 });
    expect(await permits.remaining('m')).toEqual({ tpm: 20, tpd: 420 });
    await permits.rebook(large, 90);
    expect(await permits.remaining('m')).toEqual({ tpm: 20, tpd: 420 });
  });

  it('keeps the estimate of a call whose use is not known, and forgets a call that used nothing', async () => {
    world.limits.set('m', { tpm: 100 });
    await permits.release(await take('normal', 40), 'dropped', null);
    expect((await permits.remaining('m')).tpm).toBe(60);
    await permits.release(await take('normal', 40), 'dropped', { input: 0, output: 0 });
    expect((await permits.remaining('m')).tpm).toBe(60);
  });

  it('counts a withdrawn call nowhere', async () => {
    world.limits.set('m', { rpm: 1, tpm: 100, tpd: 100, growth: 0 } as object, {
      growth: { max_ratio: 0, per_s: 60, floor_rps: 1 / 60 },
    });
    for (let at = 0; at < 3; at++) await permits.withdraw((await take('normal', 100)).ticket);
    await take('normal', 100);
    expect((await enter()).kind).toBe('queued');
  });

  it('keeps a reserve for the classes above', async () => {
    world.limits.classes = { ...SHARES, normal: { share: 0.9, min_share: 0 }, low: { share: 0.7, min_share: 0 } };
    world.limits.set('m', { inflight: 20, rpm: 100 });
    expect([await room('low'), await room('normal'), await room('critical')]).toEqual([14, 4, 2]);
  });

  it('leaves the guarantee of a class out of its cap', async () => {
    world.limits.classes = SHARES;
    world.limits.set('m', { inflight: 20 });
    expect([await room('normal'), await room('low'), await room('critical')]).toEqual([18, 1, 1]);
  });

  it.each([
    ['calls in flight', { inflight: 4 }, 4],
    ['many calls in flight', { inflight: 40 }, 40],
  ])('serves strictly by class, but for the min_share of those below, with %s', async (_name, limits, width) => {
    world.limits.classes = { ...FULL_SHARES, normal: { share: 1, min_share: 0.1 }, low: { share: 1, min_share: 0.05 } };
    world.limits.set('m', limits);
    const classOf = new Map<string, Priority>();
    const add = async (priority: Priority): Promise<void> => void classOf.set(await wait(priority), priority);
    const running: Grant[] = [];
    for (let at = 0; at < width; at++) running.push(await take('critical'));
    for (const priority of ['low', 'normal', 'critical'] as const) {
      for (let at = 0; at < 4; at++) await add(priority);
    }
    const served: Priority[] = [];
    for (let at = 0; at < 400; at++) {
      const before = grants.length;
      const done = running.shift();
      if (done !== undefined) await permits.release(done, 'success', null);
      await until(() => grants.length > before);
      const grant = grants.at(-1);
      if (grant === undefined) throw new Error('no grant');
      running.push(grant);
      const priority = classOf.get(grant.ticket) ?? 'low';
      served.push(priority);
      await add(priority);
    }
    expect(served.slice(0, 9)).toEqual(Array(9).fill('critical'));
    const share = (priority: Priority): number => served.filter(one => one === priority).length / served.length;
    expect(Math.abs(share('low') - 0.05)).toBeLessThanOrEqual(0.02);
    expect(Math.abs(share('normal') - 0.1)).toBeLessThanOrEqual(0.02);
  });

  it('spares a permit only below the share of the lowest class, out of no guarantee, and books it as its own class', async () => {
    world.limits.set('m', { inflight: 20 });
    world.limits.classes = SHARES;
    const spare = (): Promise<Grant | null> => permits.takeSpare(waitRequest('critical'));
    for (let used = 0; used < 13; used++) await take('critical');
    const spared = await spare();
    expect(spared).not.toBeNull();
    // 14 of 20 are 0.7; one more would be that of LOW by its guarantee, which is untouched.
    expect(await spare()).toBeNull();
    expect(await permits.inflight()).toEqual({ m: 14 });
    expect(await room('low')).toBe(1);
    expect(await spare()).toBeNull();
    if (spared !== null) await permits.release(spared, 'ignored', null);
    expect(await permits.inflight()).toEqual({ m: 14 });
  });

  it('spares nothing while anybody waits for the model', async () => {
    world.limits.set('m', { inflight: 20 });
    world.limits.set('n', { inflight: 1 });
    const elsewhere = waitRequest('low', { models: ['n'] });
    await permits.enter(elsewhere, EXPRESS);
    // Not reached by a worker yet, it waits for both.
    const request = waitRequest('low', { models: ['n', 'm'] });
    await permits.enter(request, QUEUED);
    expect(await permits.takeSpare(waitRequest('critical'))).toBeNull();
    await permits.withdraw(request.ticket);
    expect(await permits.takeSpare(waitRequest('critical'))).toMatchObject({ model: 'm' });
  });

  it('lets traffic grow no faster than it may, and goes on by itself', async () => {
    world.limits.set('m', {}, { growth: { max_ratio: 0.5, per_s: 0.3, floor_rps: 20 } });
    const started: number[] = [];
    permits.onGrant(() => started.push(performance.now()));
    expect(await room('critical')).toBe(6);
    const from = performance.now();
    for (let at = 0; at < 10; at++) await wait('normal');
    await until(() => started.length === 10);
    const late = (at: number): number => (started[at] ?? 0) - from;
    expect(late(0)).toBeGreaterThan(100);
    expect((await permits.explain('m')).limits[0]).toMatchObject({ limit: 'growth', admitted: expect.any(Number) });
  });

  it('lets no call grow into a period whose calls may still be on their way', async () => {
    world.limits.set('m', {}, { growth: { max_ratio: 0.2, per_s: 60, floor_rps: 0.05 } });
    expect(await room('critical')).toBe(3);
    const entry = await enter('critical');
    const inMs = entry.kind === 'queued' ? entry.freeInMs : 0;
    // A quarter of a second for those that travel for longer, and at most two buckets.
    expect(inMs).toBeGreaterThan(60_000 + 125);
    expect(inMs).toBeLessThanOrEqual(60_000 + 250 + 125);
  });

  it('keeps a reserve of the growth for the classes above, and their guarantee for those below', async () => {
    world.limits.classes = { ...SHARES, normal: { share: 0.9, min_share: 0 }, low: { share: 0.7, min_share: 0.1 } };
    world.limits.set('m', {}, { growth: { max_ratio: 0.2, per_s: 100, floor_rps: 0.2 } });
    expect([await room('low'), await room('normal'), await room('critical')]).toEqual([14, 4, 2]);
    world.limits.set('n', {}, { growth: { max_ratio: 0.2, per_s: 100, floor_rps: 0.2 } });
    const models = ['n'];
    for (let at = 0; at < 17; at++) await permits.enter(waitRequest('critical', { models }), EXPRESS);
    const late = [];
    for (let at = 0; at < 3; at++) late.push((await permits.enter(waitRequest('low', { models }), EXPRESS)).kind);
    expect(late).toEqual(['granted', 'granted', 'queued']);
  });

  it('tells what binds, what is left and who waits', async () => {
    world.limits.set('m', { inflight: 2, rpm: 10, tpm: 1000 }, { headroom: 0.2 });
    expect(await permits.explain('m')).toMatchObject({ binds: null, waiting: { critical: 0, normal: 0, low: 0 } });
    await take('normal', 100);
    await wait('low');
    expect(await permits.explain('m')).toEqual({
      limits: [
        { limit: 'inflight', admitted: 1, used: 1 },
        { limit: 'rpm', admitted: 8, used: 1 },
        { limit: 'tpm', admitted: 800, used: 100 },
      ],
      waiting: { critical: 0, normal: 0, low: 1 },
      binds: { limit: 'inflight', inMs: null },
      learned: null,
    });
    expect(await permits.remaining('m')).toEqual({ inflight: 0, rpm: 7, tpm: 700 });
  });

  it('limits nothing where nothing is configured, and remembers nothing of it', async () => {
    const request = waitRequest('low', { models: ['whatever'] });
    const entry = await permits.enter(request, EXPRESS);
    expect(await permits.inflight()).toEqual({ whatever: 1 });
    if (entry.kind === 'granted') await permits.release(entry.grant, 'success', null);
    expect(await permits.inflight()).toEqual({});
    expect(await permits.remaining('whatever')).toEqual({});
  });
});
