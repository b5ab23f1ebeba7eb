import { withDeadline } from './deadline';
import { RedisUnavailable } from './redis-unavailable';

describe('withDeadline', () => {
  it('passes on what comes in time, and failures as they are', async () => {
    expect(await withDeadline(Promise.resolve(5), 50)).toBe(5);
    const failure = new Error('as it is');
    await expect(withDeadline(Promise.reject(failure), 50)).rejects.toBe(failure);
  });

  it('ends the wait for what never comes', async () => {
    const waiting = withDeadline(new Promise(() => undefined), 20);
    await expect(waiting).rejects.toBeInstanceOf(RedisUnavailable);
  });

  it('does not blame others for the time that this process was busy', async () => {
    const reply = new Promise<string>(resolve => setTimeout(() => setImmediate(() => resolve('there')), 10));
    const waiting = withDeadline(reply, 20);
    const end = performance.now() + 60;
    while (performance.now() < end);
    expect(await waiting).toBe('there');
  });
});
