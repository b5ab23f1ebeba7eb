import { SystemClock } from '@spillway/contracts';
import { FULL_SHARES, LONG_TIMINGS, waitRequest } from '../../../test/support/permits';
import type { ModelLimits } from './limits';
import { LocalShare, type SharedUse } from './local-share';
import { MemoryPermits } from './memory-permits';

const NO_LIMITS = { rpm: 0, tpm: 0, tpd: 0, inflight: 0 };

function shareOf(limits: Partial<ModelLimits['limits']>, more: Partial<ModelLimits> = {}): LocalShare {
  const whole = { headroom: 0, ...more, limits: { ...NO_LIMITS, ...limits } };
  return new LocalShare({ limitsOf: model => (model === 'm' ? whole : null), shares: () => FULL_SHARES });
}

const use = (more: Partial<SharedUse> = {}): SharedUse => ({
  model: 'm',
  calls: 0,
  tokens: 0,
  minute: { calls: 0, tokens: 0 },
  dayTokens: 0,
  ...more,
});

describe('LocalShare', () => {
  it('has all of the limits as long as no other process is known', () => {
    const share = shareOf({ rpm: 10 });
    const whole = share.limitsOf('m');
    share.note(1, []);
    expect(share.limitsOf('m')).toBe(whole);
    expect(whole?.limits.rpm).toBe(10);
  });

  it('divides them by the processes, rounded down, and never to nothing', () => {
    const share = shareOf(
      { rpm: 10, tpm: 1000, inflight: 2 },
      { growth: { max_ratio: 0.2, per_s: 10, floor_rps: 0.2 } },
    );
    share.note(3, []);
    expect(share.limitsOf('m')).toMatchObject({
      limits: { rpm: 3, tpm: 333, tpd: 0, inflight: 1 },
      growth: { floor_rps: 0.1, max_ratio: 0.2 },
    });
    expect(share.limitsOf('m')).toBe(share.limitsOf('m'));
    expect(share.limitsOf('other')).toBeNull();
  });

  it('does not forget the others for one look at a server that has just come back', () => {
    const share = shareOf({ rpm: 10 });
    share.note(2, []);
    share.note(1, []);
    expect(share.processes).toBe(2);
    share.note(1, []);
    expect(share.processes).toBe(1);
  });

  it('takes its share of all that is used when a model is new, and then of what is added', () => {
    const share = shareOf({ rpm: 10 });
    const first = use({ calls: 50, tokens: 900, minute: { calls: 8, tokens: 80 }, dayTokens: 900 });
    expect(share.note(2, [first])).toEqual([{ model: 'm', calls: 4, tokens: 40, dayTokens: 450 }]);
    const next = use({ ...first, calls: 54, tokens: 890 });
    expect(share.note(2, [next])).toEqual([{ model: 'm', calls: 2, tokens: -5, dayTokens: -5 }]);
    const emptied = use({ calls: 2, tokens: 20, minute: { calls: 2, tokens: 20 }, dayTokens: 20 });
    expect(share.note(2, [emptied])).toEqual([{ model: 'm', calls: 1, tokens: 10, dayTokens: 10 }]);
  });

  it('leaves to a process on its own what its share of the use has left over', async () => {
    const share = shareOf({ rpm: 10, inflight: 8 });
    const permits = new MemoryPermits(share, new SystemClock(), LONG_TIMINGS);
    permits.book(share.note(2, [use({ calls: 4, minute: { calls: 4, tokens: 0 } })]));
    const enter = async (): Promise<string> =>
      (await permits.enter(waitRequest('normal'), { express: true, queueLimit: 10 })).kind;
    const kinds = [await enter(), await enter(), await enter(), await enter()];
    expect(kinds.join()).toBe('granted,granted,granted,queued');
    permits.onApplicationShutdown();
  });

  it('counts calls under way that have their permits from elsewhere', async () => {
    const share = shareOf({ inflight: 4 });
    share.note(2, []);
    const permits = new MemoryPermits(share, new SystemClock(), LONG_TIMINGS);
    const end = permits.adopt('m', 'low');
    permits.adopt('m', 'normal');
    const granted: string[] = [];
    permits.onGrant(grant => granted.push(grant.ticket));
    const request = waitRequest('critical');
    expect((await permits.enter(request, { express: true, queueLimit: 10 })).kind).toBe('queued');
    await permits.reach(request.ticket);
    end();
    expect(granted).toEqual([request.ticket]);
    permits.onApplicationShutdown();
  });
});
