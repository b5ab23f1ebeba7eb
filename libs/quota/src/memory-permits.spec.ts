import { ManualClock } from '../../../test/support/manual-clock';
import { FULL_SHARES, LONG_TIMINGS, waitRequest } from '../../../test/support/permits';
import { MemoryPermits } from './memory-permits';

describe('models that callers make up', () => {
  const source = { limitsOf: () => null, shares: () => FULL_SHARES };
  const permits = new MemoryPermits(source, new ManualClock(), LONG_TIMINGS);

  it.each([
    ['where the queue is full', { express: false, queueLimit: 0 }, 'full'],
    ['once their calls have ended', { express: true, queueLimit: 0 }, 'granted'],
    ['once nobody waits for them any more', { express: false, queueLimit: 1 }, 'queued'],
  ])('are forgotten %s', async (_, options, kind) => {
    for (let name = 0; name < 10; name++) {
      const request = waitRequest('normal', { models: [`made-up-${name}`] });
      const entry = await permits.enter(request, options);
      expect(entry.kind).toBe(kind);
      await permits.withdraw(request.ticket);
    }
    expect(await permits.inflight()).toEqual({});
  });
});
