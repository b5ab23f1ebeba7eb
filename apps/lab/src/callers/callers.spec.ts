import { waitMs } from './backoff-caller';
import { WindowLimiter } from './window-limiter';

const table = { attempts: 5, base_ms: 100, factor: 2, most_ms: 500, jitter: 'none', jitter_share: 0.3 } as const;

describe('waitMs', () => {
  it('doubles up to its most, with the chance that the table asks for', () => {
    expect([0, 1, 2, 3].map(retry => waitMs(table, retry, () => 0.5))).toEqual([100, 200, 400, 500]);
    expect(waitMs({ ...table, jitter: 'proportional' }, 0, () => 0.5)).toBeCloseTo(115);
    expect(waitMs({ ...table, jitter: 'additive-s' }, 0, () => 0.5)).toBe(600);
    expect(waitMs({ ...table, jitter: 'full' }, 1, () => 0.5)).toBe(100);
  });
});

describe('WindowLimiter', () => {
  it('lets so many pass and makes the next wait until its caller leaves', async () => {
    const limiter = new WindowLimiter(2);
    const leave = new AbortController();
    await limiter.enter(leave.signal);
    await limiter.enter(leave.signal);
    const third = limiter.enter(leave.signal);
    leave.abort();
    await expect(third).rejects.toThrow('abort');
  });
});
