import type { Priority } from '@spillway/contracts';
import type { Entry, Grant, Permits, PermitTimings } from '@spillway/quota';
import { PERMIT_WORLDS, until, waitRequest, type PermitWorld } from '../support/permits';

const EXPRESS = { express: true, queueLimit: 10_000 };
const QUEUED = { express: false, queueLimit: 10_000 };

describe.each(PERMIT_WORLDS)('Permits: %s', (kind, makeWorld) => {
  let world: PermitWorld;
  let permits: Permits;
  let other: Permits;
  let grants: Grant[];
  let keeping: NodeJS.Timeout;

  const open = async (timings?: PermitTimings): Promise<void> => {
    world = makeWorld(timings);
    permits = await world.process();
    other = await world.process();
    grants = [];
    permits.onGrant(grant => grants.push(grant));
    if (other !== permits) other.onGrant(grant => grants.push(grant));
  };
  const reopen = async (timings: PermitTimings): Promise<void> => {
    await world.stop();
    await open(timings);
  };
  beforeEach(() => open());
  afterEach(async () => {
    clearInterval(keeping);
    await world.stop();
  });

  const grantOf = (entry: Entry): Grant => {
    if (entry.kind !== 'granted') throw new Error(`expected a grant, got ${entry.kind}`);
    return entry.grant;
  };
  const take = async (priority: Priority = 'normal', models = ['m']): Promise<Grant> => {
    const grant = grantOf(await permits.enter(waitRequest(priority, { models }), EXPRESS));
    await permits.renew([grant]);
    return grant;
  };
  const keep = (grant: Grant): Grant => {
    keeping = setInterval(() => void permits.renew([grant]), 100);
    return grant;
  };
  const wait = async (by: Permits, priority: Priority, more = {}): Promise<string> => {
    const request = waitRequest(priority, more);
    expect((await permits.enter(request, QUEUED)).kind).toBe('queued');
    expect((await by.reach(request.ticket)).kind).toBe('waiting');
    return request.ticket;
  };
  const stateOf = async (ticket: string): Promise<string | undefined> => (await permits.inspect([ticket]))[0]?.kind;
  const end = (grant: Grant | undefined): Promise<void> => {
    if (grant === undefined) throw new Error('no grant');
    return permits.release(grant, 'success', null);
  };

  it('admits exactly as many as the limit of 1000 that enter at once', async () => {
    world.limits.set('m', { inflight: 37 });
    const entries = await Promise.all(
      Array.from({ length: 1000 }, (_, at) =>
        (at % 2 ? permits : other).enter(waitRequest('normal'), { express: true, queueLimit: 500 }),
      ),
    );
    const count = (wanted: Entry['kind']): number => entries.filter(entry => entry.kind === wanted).length;
    expect([count('granted'), count('queued'), count('full')]).toEqual([37, 500, 463]);
    expect(await permits.inflight()).toEqual({ m: 37 });
    expect(await permits.depths()).toEqual({ critical: 0, normal: 500, low: 0 });
  });

  it('walks the chain: the first model with room now', async () => {
    world.limits.set('m', { inflight: 1 });
    world.limits.set('n', { inflight: 1 });
    expect((await take('normal', ['m', 'n'])).model).toBe('m');
    expect((await take('normal', ['m', 'n'])).model).toBe('n');
    expect((await permits.enter(waitRequest('normal', { models: ['m', 'n'] }), EXPRESS)).kind).toBe('queued');
  });

  it('hands a freed permit to the best wait: class, then turnBy, then arrival', async () => {
    world.limits.set('m', { inflight: 1 });
    let current: Grant | undefined = await take();
    const now = Date.now();
    const low = await wait(permits, 'low', { turnBy: now + 5000 });
    const late = await wait(other, 'normal', { turnBy: now + 9000 });
    const soon = await wait(other, 'normal', { turnBy: now + 7000 });
    const second = await wait(permits, 'normal', { turnBy: now + 7000 });
    const critical = await wait(other, 'critical', { turnBy: now + 9500 });
    for (let served = 1; served <= 5; served++) {
      await end(current);
      await until(() => grants.length === served);
      current = grants.at(-1);
    }
    expect(grants.map(grant => grant.ticket)).toEqual([critical, soon, second, late, low]);
  });

  it('refuses the express lane while the same or a higher class waits, and only then', async () => {
    world.limits.set('m', { inflight: 2 });
    const first = await take();
    await take();
    const request = waitRequest('normal');
    await permits.enter(request, QUEUED);
    await end(first);
    expect((await permits.enter(waitRequest('normal'), EXPRESS)).kind).toBe('queued');
    expect((await permits.enter(waitRequest('low'), EXPRESS)).kind).toBe('queued');
    expect((await permits.enter(waitRequest('critical'), EXPRESS)).kind).toBe('granted');
  });

  it('lets a wait for other models pass by', async () => {
    world.limits.set('m', { inflight: 1 });
    await take();
    await wait(permits, 'critical');
    expect((await permits.enter(waitRequest('low', { models: ['n'] }), EXPRESS)).kind).toBe('granted');
  });

  it('grants nothing to a lower class while a higher one waits, reached or not', async () => {
    world.limits.set('m', { inflight: 1 });
    const first = await take();
    const low = await wait(permits, 'low');
    const critical = waitRequest('critical');
    await other.enter(critical, QUEUED);
    await end(first);
    expect(await stateOf(low)).toBe('reached');
    const reached = await other.reach(critical.ticket);
    expect(reached.kind).toBe('granted');
    if (reached.kind === 'granted') await end(reached.grant);
    await until(() => grants.some(grant => grant.ticket === low));
  });

  it('forgets a higher wait that has expired, without being asked', async () => {
    world.limits.set('m', { inflight: 1 });
    const first = await take();
    const low = await wait(permits, 'low');
    await other.enter(waitRequest('critical', { turnBy: Date.now() + 300 }), QUEUED);
    await end(first);
    expect(await stateOf(low)).toBe('reached');
    await until(() => grants.some(grant => grant.ticket === low));
  });

  it('keeps the queue limit by class, exactly, and gives places back', async () => {
    world.limits.set('m', { inflight: 1 });
    await take();
    const three = { express: true, queueLimit: 3 };
    const requests = Array.from({ length: 10 }, () => waitRequest('low'));
    const entries = await Promise.all(requests.map((request, at) => (at % 2 ? permits : other).enter(request, three)));
    expect(entries.filter(entry => entry.kind === 'queued')).toHaveLength(3);
    expect((await permits.enter(waitRequest('normal'), three)).kind).toBe('queued');
    const queued = requests[entries.findIndex(entry => entry.kind === 'queued')];
    await permits.withdraw(queued?.ticket ?? '');
    expect((await permits.enter(waitRequest('low'), three)).kind).toBe('queued');
    const full = await permits.enter(waitRequest('low'), three);
    expect(full).toEqual({ kind: 'full', retryAfterMs: expect.any(Number) });
  });

  it('does not count waits that have expired', async () => {
    world.limits.set('m', { inflight: 1 });
    await take();
    await permits.enter(waitRequest('low', { turnBy: Date.now() + 30 }), QUEUED);
    await new Promise(resolve => setTimeout(resolve, 60));
    expect((await permits.depths()).low).toBe(0);
    expect((await permits.enter(waitRequest('low'), { express: true, queueLimit: 1 })).kind).toBe('queued');
  });

  it('tells how many are ahead', async () => {
    world.limits.set('m', { inflight: 1 });
    await take();
    const now = Date.now();
    await wait(permits, 'critical');
    await wait(permits, 'normal', { turnBy: now + 5000 });
    await wait(permits, 'normal', { turnBy: now + 9000 });
    await wait(permits, 'critical', { models: ['n', 'm'].slice(1) });
    const entry = await permits.enter(waitRequest('normal', { turnBy: now + 7000 }), QUEUED);
    expect(entry).toEqual({ kind: 'queued', ahead: 3, estimateMs: null, freeInMs: 0, binds: null });
  });

  it('tells what refused a call at its entry: the limit of its first model, or the order', async () => {
    world.limits.set('m', { inflight: 1 });
    world.limits.set('n', { rpm: 1 });
    await take('normal', ['m']);
    await take('normal', ['n']);
    const refusalOf = async (priority: Priority, models: string[]): Promise<unknown> => {
      const entry = await permits.enter(waitRequest(priority, { models }), EXPRESS);
      return entry.kind === 'queued' ? entry.binds : entry.kind;
    };
    expect(await refusalOf('low', ['m', 'n'])).toBe('inflight');
    expect(await refusalOf('normal', ['n', 'm'])).toBe('rpm');
    expect(await refusalOf('normal', ['m'])).toBe('order');
    expect(await refusalOf('critical', ['m'])).toBe('inflight');
  });

  it('lists who waits, by class and in order, with how long it has and may', async () => {
    world.limits.set('m', { inflight: 1 });
    await take();
    const now = Date.now();
    const later = waitRequest('normal', { turnBy: now + 9_000, tokens: 7, models: ['m', 'n'].slice(0, 1) });
    await permits.enter(later, QUEUED);
    const sooner = await wait(other, 'normal', { turnBy: now + 5_000 });
    await wait(permits, 'low');
    await new Promise(resolve => setTimeout(resolve, 30));
    const listed = await permits.waits('normal', 10);

    expect(listed).toEqual([
      expect.objectContaining({ ticket: sooner, models: ['m'], reached: true }),
      expect.objectContaining({ ticket: later.ticket, models: ['m'], reached: false, tokens: 7 }),
    ]);
    for (const { waitedMs, leftMs } of listed) {
      expect(waitedMs).toBeGreaterThanOrEqual(25);
      expect(leftMs).toBeGreaterThan(1_000);
      expect(waitedMs + leftMs).toBeLessThan(9_500);
    }
    expect(await permits.waits('normal', 1)).toHaveLength(1);
    expect(await permits.waits('critical', 10)).toEqual([]);
  });

  it('frees the permit of a lease that is not renewed, and wakes who waits', async () => {
    await reopen({ leaseMs: 1_500, claimMs: 500 });
    world.limits.set('m', { inflight: 1 });
    const claimed = await take();
    const ticket = await wait(other, 'normal');
    await permits.renew([claimed]);
    await new Promise(resolve => setTimeout(resolve, 700));
    expect(await stateOf(ticket)).toBe('reached');
    await until(() => grants.some(grant => grant.ticket === ticket));
  });

  it('gives a grant that nobody claims to the next', async () => {
    await reopen({ leaseMs: 10_000, claimMs: 250 });
    world.limits.set('m', { inflight: 1 });
    const first = await take();
    const unclaimed = await wait(permits, 'normal');
    const next = await wait(permits, 'normal');
    await end(first);
    await until(() => grants.some(grant => grant.ticket === next));
    expect(await stateOf(unclaimed)).toBe('gone');
  });

  it('releases once', async () => {
    world.limits.set('m', { inflight: 2 });
    const first = await take();
    await take();
    await Promise.all([end(first), end(first), other.release(first, 'dropped', null)]);
    expect(await permits.inflight()).toEqual({ m: 1 });
    await take();
    expect((await permits.enter(waitRequest('critical'), EXPRESS)).kind).toBe('queued');
  });

  it('gives back the permit of a granted ticket that is withdrawn', async () => {
    world.limits.set('m', { inflight: 1 });
    const granted = await take();
    const ticket = await wait(other, 'low');
    await permits.withdraw(granted.ticket);
    await until(() => grants.some(grant => grant.ticket === ticket));
    expect(await stateOf(granted.ticket)).toBe('gone');
  });

  it('tells where tickets are', async () => {
    world.limits.set('m', { inflight: 1 });
    const granted = await take();
    const reached = await wait(other, 'normal');
    const queued = waitRequest('normal');
    await permits.enter(queued, QUEUED);
    expect(await permits.inspect([granted.ticket, reached, queued.ticket, 'nobody'])).toEqual([
      { ticket: granted.ticket, kind: 'granted', grant: granted },
      { ticket: reached, kind: 'reached' },
      { ticket: queued.ticket, kind: 'queued' },
      { ticket: 'nobody', kind: 'gone' },
    ]);
  });

  it('answers a repeated enter and a reach of something unknown', async () => {
    world.limits.set('m', { inflight: 1 });
    const request = waitRequest('normal');
    const grant = grantOf(await permits.enter(request, EXPRESS));
    expect(grantOf(await permits.enter(request, EXPRESS))).toEqual(grant);
    expect(await permits.reach('nobody')).toEqual({ kind: 'gone' });
    expect(await permits.reach(request.ticket)).toEqual({ kind: 'gone' });
    expect(await permits.inflight()).toEqual({ m: 1 });
  });

  it('takes a change of the limits at once and keeps what is under way', async () => {
    world.limits.set('m', { inflight: 1 });
    await take();
    world.limits.set('m', { inflight: 3 });
    await take();
    await take();
    world.limits.set('m', { inflight: 2 });
    expect((await permits.enter(waitRequest('normal'), EXPRESS)).kind).toBe('queued');
    expect(await permits.inflight()).toEqual({ m: 3 });
  });

  it('loses nobody and exceeds nothing under a storm', async () => {
    world.limits.set('m', { inflight: 3 });
    world.limits.set('n', { inflight: 2 });
    const classes: Priority[] = ['critical', 'normal', 'low'];
    const chains = [['m', 'n'], ['n', 'm'], ['m'], ['n']];
    let most = 0;
    let done = 0;
    const under = new Map<string, string>();
    const serve = async (grant: Grant): Promise<void> => {
      under.set(grant.ticket, grant.model);
      most = Math.max(most, under.size);
      await new Promise(resolve => setTimeout(resolve, 2));
      under.delete(grant.ticket);
      await end(grant);
      done++;
    };
    permits.onGrant(grant => void serve(grant));
    if (other !== permits) other.onGrant(grant => void serve(grant));
    let left = 0;
    for (let at = 0; at < 300; at++) {
      const request = waitRequest(classes[at % 3] ?? 'low', { models: chains[at % 4] ?? ['m'] });
      const entry = await permits.enter(request, { express: at % 2 === 0, queueLimit: 1000 });
      if (entry.kind === 'granted') void serve(entry.grant);
      else if (at % 10 === 9) {
        await other.withdraw(request.ticket);
        left++;
      } else {
        const reached = await (at % 3 ? permits : other).reach(request.ticket);
        if (reached.kind === 'granted') void serve(reached.grant);
      }
    }
    await until(() => done === 300 - left, 10_000);
    expect(most).toBeLessThanOrEqual(5);
    expect(most).toBe(5);
    expect(await permits.depths()).toEqual({ critical: 0, normal: 0, low: 0 });
    expect(Object.values(await permits.inflight())).toEqual([0, 0]);
  });

  if (kind === 'redis') {
    it('counts a ticket whose worker has died as queued again', async () => {
      world.limits.set('m', { inflight: 1 });
      keep(await take());
      const ticket = await wait(other, 'normal');
      await new Promise(resolve => setTimeout(resolve, 600));
      expect(await stateOf(ticket)).toBe('reached');
      world.crash(other);
      await until(async () => (await stateOf(ticket)) === 'queued');
      expect((await permits.reach(ticket)).kind).toBe('waiting');
    });

    it('grants nothing to waits of a dead worker', async () => {
      world.limits.set('m', { inflight: 1 });
      const first = keep(await take());
      const lost = await wait(other, 'normal', { turnBy: Date.now() + 5000 });
      const next = await wait(permits, 'normal');
      world.crash(other);
      await new Promise(resolve => setTimeout(resolve, 1100));
      await end(first);
      await until(() => grants.some(grant => grant.ticket === next));
      expect(await stateOf(lost)).toBe('queued');
    });
  }
});
