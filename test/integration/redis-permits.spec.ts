import type { Grant, Permits } from '@spillway/quota';
import { RedisConnections, RedisUnavailable } from '@spillway/redis';
import { redisTimeoutMs } from '../support/open-redis';
import { redisWorld, until, waitRequest, type PermitWorld } from '../support/permits';
import { startRedis, type RedisServer } from '../support/redis-server';

const EXPRESS = { express: true, queueLimit: 100 };

describe('permits and what happens to Redis', () => {
  let server: RedisServer;
  let world: PermitWorld;
  let permits: Permits;
  let connections: RedisConnections;

  const open = async (settings: readonly string[] = []): Promise<void> => {
    server = await startRedis({ settings });
    world = redisWorld(server.url);
    world.limits.set('m', { inflight: 2, rpm: 100, tpm: 1000 });
    permits = await world.process();
    connections = new RedisConnections({ url: server.url, prefix: 'test' });
    await connections.ready();
  };
  afterEach(async () => {
    await world.stop();
    await connections.onApplicationShutdown();
    await server.stop();
  });
  const take = async (by = permits): Promise<Grant> => {
    const entry = await by.enter(waitRequest('normal'), EXPRESS);
    if (entry.kind !== 'granted') throw new Error(entry.kind);
    return entry.grant;
  };
  const redis = (): ReturnType<RedisConnections['get']> => connections.get('commands');

  it('counts exactly when the scripts are forgotten in the middle', async () => {
    await open();
    world.limits.set('m', { rpm: 1000 });
    const entries = [];
    for (let at = 0; at < 300; at++) {
      if (at % 60 === 0)
        entries.push(
          redis()
            .script('FLUSH')
            .then(() => null),
        );
      entries.push(permits.enter(waitRequest('normal'), EXPRESS));
    }
    expect((await Promise.all(entries)).filter(entry => entry?.kind === 'granted')).toHaveLength(300);
    expect((await permits.remaining('m')).rpm).toBe(700);
  });

  it('works where SCRIPT is forbidden', async () => {
    await open(['--rename-command', 'SCRIPT', '']);
    await permits.release(await take(), 'success', { input: 1, output: 1 });
    expect(await permits.remaining('m')).toEqual({ inflight: 2, rpm: 99, tpm: 998 });
  });

  it('goes on with a Redis that comes back empty, and lets old grants end in peace', async () => {
    await open();
    const old = await take();
    const waiting = waitRequest('low', { models: ['m'] });
    await permits.enter(waiting, { express: false, queueLimit: 100 });
    server.kill('SIGKILL');
    await until(async () =>
      take().then(
        () => false,
        error => error instanceof RedisUnavailable,
      ),
    );
    await server.restart();
    await until(() =>
      take().then(
        () => true,
        () => false,
      ),
    );
    await permits.renew([old]);
    await permits.release(old, 'success', null);
    expect(await permits.inspect([old.ticket, waiting.ticket])).toEqual([
      { ticket: old.ticket, kind: 'gone' },
      { ticket: waiting.ticket, kind: 'gone' },
    ]);
    expect(await permits.reach(waiting.ticket)).toEqual({ kind: 'gone' });
    expect(await permits.inflight()).toEqual({ m: 1 });
  });

  const damages = ['law', 'tickets', 'waits', 'reached', 'leases', 'workers', 'critical', 'normal', 'low', 'buckets'];

  it('begins anew where one of its keys is lost or holds something else', async () => {
    await open();
    const heals = async (name: string, damage: (key: string) => Promise<unknown>): Promise<void> => {
      const own = redisWorld(server.url, { leaseMs: 500, claimMs: 500 });
      own.limits.set('m', { inflight: 2, rpm: 100 });
      const damaged = await own.process();
      const enter = async (patient: boolean): Promise<boolean> => {
        const request = waitRequest('normal', { turnBy: Date.now() + 500 });
        const entry = await damaged.enter(request, EXPRESS);
        if (entry.kind === 'granted' || (await damaged.reach(request.ticket)).kind === 'granted') return true;
        if (!patient) await damaged.withdraw(request.ticket);
        return false;
      };
      for (let call = 0; call < 5; call++) await enter(true);
      await damage(`{${own.prefix}}:${name}`);
      await until(() => enter(false));
      await until(() => enter(false));
      await own.stop();
    };
    const lost = damages.map(name => heals(name, key => redis().del(key)));
    await expect(Promise.all(lost)).resolves.toBeDefined();
    const overwritten = damages.map(name => heals(name, key => redis().set(key, 'something else')));
    await expect(Promise.all(overwritten)).resolves.toBeDefined();
  });

  it('fails fast while Redis is frozen, and goes on when it thaws', async () => {
    await open();
    const grant = await take();
    server.kill('SIGSTOP');
    const from = performance.now();
    await expect(take()).rejects.toBeInstanceOf(RedisUnavailable);
    await expect(permits.release(grant, 'success', null)).rejects.toBeInstanceOf(RedisUnavailable);
    // The first waits its time, the second not at all.
    expect(performance.now() - from).toBeLessThan(1.5 * redisTimeoutMs(server.url));
    server.kill('SIGCONT');
    await until(() =>
      permits.release(grant, 'success', null).then(
        () => true,
        () => false,
      ),
    );
  });

  it('remembers what was used when every process is new', async () => {
    await open();
    const first = await take();
    await permits.release(first, 'success', { input: 100, output: 150 });
    await take();
    await world.stop();
    world = redisWorld(server.url, undefined, world.prefix);
    world.limits.set('m', { inflight: 2, rpm: 100, tpm: 1000 });
    permits = await world.process();
    expect(await permits.remaining('m')).toEqual({ inflight: 1, rpm: 98, tpm: 740 });
  });

  it('keeps a bounded state, however many calls there were', async () => {
    await open();
    world.limits.set(
      'm',
      { rpm: 1_000_000, tpm: 1_000_000_000, tpd: 1_000_000_000 },
      {
        growth: { max_ratio: 1, per_s: 60, floor_rps: 100_000 },
      },
    );
    for (let at = 0; at < 2000; at++) await permits.release(await take(), 'success', { input: 5, output: 5 });
    expect(await redis().dbsize()).toBeLessThanOrEqual(10);
    expect(await redis().hlen(`{${world.prefix}}:tickets`)).toBe(0);
    expect(await redis().hlen(`{${world.prefix}}:buckets`)).toBeLessThan(200);
  });
});
