import { RedisUnavailable, type RedisGuard } from '@spillway/redis';
import { UseFollower } from './use-follower';

const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

type RedisState = RedisGuard['state'];

describe('a process that follows the use of all', () => {
  const world = () => {
    const listeners: ((state: RedisState) => void)[] = [];
    const guard = {
      state: 'ok' as RedisState,
      onStateChange: (listener: (state: RedisState) => void) => void listeners.push(listener),
    };
    const report = jest.fn(async () => undefined);
    const own = { report, book: () => undefined };
    const shared = { follow: async () => ({ processes: 1, uses: [] }) };
    const follower = new UseFollower(shared, { note: () => [] }, own, { now: () => 0 }, guard);
    const become = (state: RedisState): void => {
      guard.state = state;
      for (const listener of listeners) listener(state);
    };
    return { follower, report, become };
  };

  it('is behind from the loss of Redis until Redis knows what it used alone', async () => {
    const { follower, report, become } = world();
    expect(follower.behind).toBe(false);
    become('lost');
    expect(follower.behind).toBe(true);
    report.mockRejectedValueOnce(new RedisUnavailable('timeout'));
    become('ok');
    await settled();
    expect(follower.behind).toBe(true);
    await follower.onApplicationBootstrap();
    follower.onApplicationShutdown();
    expect(follower.behind).toBe(false);
  });

  it('stays behind where Redis is lost again meanwhile', async () => {
    const { follower, become } = world();
    become('lost');
    become('ok');
    become('lost');
    await settled();
    expect(follower.behind).toBe(true);
  });
});
