import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisPermits } from '@spillway/quota';
import { redisWorld, until, waitRequest, type PermitWorld } from '../support/permits';

const enter = { express: true, queueLimit: 10 };

/** What processes tell each other through Redis so that one can do without the others. */
describe('RedisPermits that follow each other', () => {
  let world: PermitWorld;

  beforeEach(() => {
    world = redisWorld(process.env['SPILLWAY_TEST_REDIS_URL'] ?? '');
  });
  afterEach(() => world.stop());

  const start = async (): Promise<RedisPermits> => (await world.process()) as RedisPermits;

  it('know how many they are, and what all of them have used', async () => {
    world.limits.set('m', { rpm: 100, tpm: 10_000, tpd: 100_000 });
    const [one, other] = [await start(), await start()];
    const entry = await one.enter(waitRequest('normal', { tokens: 50 }), enter);
    await other.enter(waitRequest('low', { tokens: 10 }), enter);
    expect((await one.follow()).processes).toBe(1);
    expect(await other.follow()).toEqual({
      processes: 2,
      uses: [{ model: 'm', calls: 2, tokens: 60, minute: { calls: 2, tokens: 60 }, dayTokens: 60 }],
    });
    if (entry.kind === 'granted') await one.release(entry.grant, 'success', { input: 20, output: 10 });
    expect((await other.follow()).uses).toEqual([
      { model: 'm', calls: 2, tokens: 40, minute: { calls: 2, tokens: 40 }, dayTokens: 40 },
    ]);
  });

  it('forget the waits of one that died before it queued them, and serve the others', async () => {
    world.limits.set('m', { inflight: 1 });
    const [dying, living] = [await start(), await start()];
    await dying.follow();
    const running = await living.enter(waitRequest('normal'), enter);
    const orphan = waitRequest('critical', { turnBy: Date.now() + 60_000 });
    await dying.enter(orphan, enter);
    world.crash(dying);
    const waiting = waitRequest('low', { turnBy: Date.now() + 60_000 });
    await living.enter(waiting, enter);
    await living.reach(waiting.ticket);
    await living.follow();
    expect((await living.depths()).critical).toBe(1);
    if (running.kind === 'granted') await living.release(running.grant, 'success', null);
    await sleep(100);
    // A critical call waits: nothing for a lower class yet.
    expect((await living.inspect([waiting.ticket]))[0]?.kind).toBe('reached');
    await until(async () => {
      await living.follow();
      return (await living.inspect([waiting.ticket]))[0]?.kind === 'granted';
    }, 6_000);
    expect((await living.depths()).critical).toBe(0);
  }, 15_000);
});
