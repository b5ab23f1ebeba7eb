import { SystemClock } from '@spillway/contracts';
import { AlonePermits, type Grant, type RedisPermits } from '@spillway/quota';
import { LONG_TIMINGS, redisWorld, SHORT_TIMINGS, until, waitRequest, type PermitWorld } from '../support/permits';

const EXPRESS = { express: true, queueLimit: 100 };
const clock = new SystemClock();

describe('what a process has admitted by itself', () => {
  let world: PermitWorld;
  let shared: RedisPermits;
  let alone: AlonePermits;

  const open = async (timings = LONG_TIMINGS): Promise<void> => {
    world = redisWorld(process.env['SPILLWAY_TEST_REDIS_URL'] ?? '', timings);
    world.limits.set('m', { inflight: 5, rpm: 10, tpm: 1000 });
    shared = (await world.process()) as RedisPermits;
    alone = new AlonePermits(world.limits, clock, timings, shared);
  };
  afterEach(async () => {
    alone.onApplicationShutdown();
    await world.stop();
  });
  const take = async (): Promise<Grant> => {
    const entry = await alone.enter(waitRequest('normal', { tokens: 100 }), EXPRESS);
    if (entry.kind !== 'granted') throw new Error(entry.kind);
    return entry.grant;
  };
  const report = (): Promise<void> => alone.report(clock.now());

  it('is booked in Redis once, calls under way as what they are', async () => {
    await open();
    const [done, underWay] = [await take(), await take()];
    await alone.withdraw((await take()).ticket);
    await alone.release(done, 'success', { input: 10, output: 20 });
    await report();
    expect(await shared.remaining('m')).toEqual({ inflight: 4, rpm: 8, tpm: 1000 - 30 - 100 });
    await report();
    expect(await shared.remaining('m')).toEqual({ inflight: 4, rpm: 8, tpm: 1000 - 30 - 100 });
    await alone.release(underWay, 'success', { input: 1, output: 4 });
    expect(await shared.remaining('m')).toEqual({ inflight: 5, rpm: 8, tpm: 1000 - 30 - 5 });
    await report();
    expect(await shared.remaining('m')).toEqual({ inflight: 5, rpm: 8, tpm: 1000 - 30 - 5 });
  });

  it('is booked with what its calls were booked with last', async () => {
    await open();
    const [early, late] = [await take(), await take()];
    await alone.rebook(early, 60);
    await report();
    expect((await shared.remaining('m')).tpm).toBe(1000 - 60 - 100);
    await alone.rebook(late, 40);
    expect((await shared.remaining('m')).tpm).toBe(1000 - 60 - 40);
    expect((await alone.remaining('m')).tpm).toBe(1000 - 60 - 40);
  });

  it('is told later where it could not be told', async () => {
    await open();
    const catchUp = jest.spyOn(shared, 'catchUp').mockRejectedValueOnce(new Error('lost'));
    const [done, underWay] = [await take(), await take()];
    await alone.release(done, 'success', { input: 10, output: 20 });
    await expect(report()).rejects.toThrow('lost');
    await alone.release(underWay, 'success', { input: 1, output: 4 });
    await report();
    expect(catchUp).toHaveBeenCalledTimes(2);
    expect(await shared.remaining('m')).toEqual({ inflight: 5, rpm: 8, tpm: 1000 - 30 - 5 });
  });

  it('is one call under way, however often it is told', async () => {
    await open();
    const now = clock.now();
    const use = { ticket: 'once', model: 'm', rank: 1, calls: 1, tokens: 30, at: now };
    await shared.catchUp([use], now);
    await shared.catchUp([use], now);
    expect(await shared.remaining('m')).toEqual({ inflight: 4, rpm: 9, tpm: 970 });
  });

  it('keeps its place while it is renewed, and leaves it with its lease', async () => {
    await open(SHORT_TIMINGS);
    const grant = await take();
    await report();
    for (let renewals = 0; renewals < 4; renewals++) {
      await new Promise(resolve => setTimeout(resolve, SHORT_TIMINGS.leaseMs / 3));
      await alone.renew([grant]);
    }
    expect((await shared.remaining('m')).inflight).toBe(4);
    await until(async () => (await shared.remaining('m')).inflight === 5);
  });

  it('leaves the windows when its time is over', async () => {
    await open();
    const now = clock.now();
    const use = { ticket: null, model: 'm', rank: 1, calls: 3, tokens: 30, at: now - 58_500 };
    await shared.catchUp([use, { ...use, at: now - 70_000 }], now);
    expect(await shared.remaining('m')).toEqual({ inflight: 5, rpm: 7, tpm: 970 });
    await until(async () => (await shared.remaining('m')).rpm === 10);
    expect(await shared.remaining('m')).toEqual({ inflight: 5, rpm: 10, tpm: 1000 });
  });
});
