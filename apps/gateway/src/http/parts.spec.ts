import type { CacheHelpers } from '@spillway/cache';
import type { RedisGuard } from '@spillway/redis';
import { CapturedLog } from '../../../../test/support/captured-log';
import { Parts } from './parts';

describe('Parts', () => {
  const log = new CapturedLog();
  let tell: (state: 'ok' | 'lost') => void = () => undefined;
  let policy = 'noeviction';
  const redis = {
    state: 'ok',
    reason: 'WRONGPASS',
    onStateChange: (listener: typeof tell) => (tell = listener),
    evictionPolicy: async () => policy,
  };
  const helpers = { states: () => ({}) } as unknown as CacheHelpers;
  const parts = new Parts(redis as unknown as RedisGuard, helpers, log);
  const warnings = async (): Promise<unknown[]> => {
    await new Promise(setImmediate);
    return log.lines.filter(({ level }) => level === 'warn');
  };
  beforeEach(() => log.lines.splice(0));

  it('says why Redis is lost, and that it is back', () => {
    tell('lost');
    tell('ok');
    expect(log.lines).toMatchObject([
      { level: 'error', fields: { part: 'redis', reason: 'WRONGPASS' } },
      { level: 'info', fields: { part: 'redis' } },
    ]);
  });

  it('warns of a Redis that throws away what it must keep, at the start and when it is back', async () => {
    parts.onApplicationBootstrap();
    tell('ok');
    expect(await warnings()).toEqual([]);
    policy = 'allkeys-lru';
    parts.onApplicationBootstrap();
    tell('ok');
    expect(await warnings()).toMatchObject([
      { fields: { part: 'redis', maxmemory_policy: 'allkeys-lru' } },
      { fields: { part: 'redis', maxmemory_policy: 'allkeys-lru' } },
    ]);
  });
});
