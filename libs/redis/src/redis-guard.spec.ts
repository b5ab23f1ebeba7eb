import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { until } from '../../../test/support/api-client';
import { startForwarder } from '../../../test/support/forwarder';
import { startRedis, type RedisServer } from '../../../test/support/redis-server';
import { RedisChannels } from './redis-channels';
import { RedisConnections } from './redis-connections';
import { RedisGuard, type RedisState } from './redis-guard';
import { RedisUnavailable } from './redis-unavailable';

/** What a busy machine may take longer. */
const BUSY_MS = 2_000;

/** Who watches a port of this machine behind an address that can be led elsewhere. */
async function watchedAt(port: number) {
  const address = await startForwarder(port);
  const behind = new RedisConnections({ url: `redis://127.0.0.1:${address.port}`, prefix: 'p' });
  const watch = new RedisGuard(behind);
  const close = async (): Promise<void> => {
    watch.onApplicationShutdown();
    await behind.onApplicationShutdown();
    await address.close();
  };
  return { address, behind, watch, close };
}

describe('a Redis that comes and goes', () => {
  let server: RedisServer;
  let connections: RedisConnections;
  let guard: RedisGuard;
  let changes: { state: RedisState; at: number }[];

  beforeEach(async () => {
    server = await startRedis();
    connections = new RedisConnections({ url: server.url, prefix: 'p' });
    guard = new RedisGuard(connections);
    changes = [];
    guard.onStateChange(state => changes.push({ state, at: performance.now() }));
    await guard.onModuleInit();
  });
  afterEach(async () => {
    guard.onApplicationShutdown();
    await connections.onApplicationShutdown();
    await server.stop();
  });

  const write = (deadlineMs?: number): Promise<unknown> =>
    guard.run(() => connections.get('commands').set('key', 'value'), deadlineMs);
  const becomes = async (state: RedisState): Promise<number> => {
    const from = performance.now();
    while (guard.state !== state) await new Promise(resolve => setTimeout(resolve, 5));
    return performance.now() - from;
  };

  it('shows a loss within a second and its return within two, without any traffic', async () => {
    expect(guard.state).toBe('ok');
    server.kill('SIGSTOP');
    expect(await becomes('lost')).toBeLessThan(1000 + BUSY_MS);
    expect(guard.reason).toBe('timeout');
    server.kill('SIGCONT');
    expect(await becomes('ok')).toBeLessThan(2000 + BUSY_MS);
    server.kill('SIGKILL');
    expect(await becomes('lost')).toBeLessThan(1000 + BUSY_MS);
    await server.restart();
    expect(await becomes('ok')).toBeLessThan(2000 + BUSY_MS);
    expect(changes.map(change => change.state)).toEqual(['lost', 'ok', 'lost', 'ok']);
    expect(await write()).toBe('OK');
  });

  it('moves to the new master in every role when the old one has become a replica', async () => {
    const next = await startRedis();
    const { address, behind, watch, close } = await watchedAt(server.port);
    try {
      await watch.onModuleInit();
      const heard: string[] = [];
      new RedisChannels(behind).channel('news', message => void heard.push(message));
      address.leadTo(next.port);
      await server.command('REPLICAOF', '127.0.0.1', '1');
      await until(() => watch.state === 'lost');
      await until(() => watch.state === 'ok');
      for (const role of ['queue', 'commands'] as const) {
        expect(await watch.run(() => behind.get(role).set('moved', role))).toBe('OK');
        expect(await next.command('GET', 'moved')).toBe(role);
      }
      await until(async () => (await next.command('PUBLISH', 'news', 'new')) === 1);
      await until(() => heard.includes('new'));
    } finally {
      await close();
      await next.stop();
    }
  });

  it('connects anew where connections lead nowhere any more, though nobody closed them', async () => {
    const comesBack = async (named: string): Promise<RedisState> => {
      const { address, behind, watch, close } = await watchedAt(server.port);
      try {
        await watch.onModuleInit();
        const heard: string[] = [];
        new RedisChannels(behind).channel(named, message => void heard.push(message));
        const works = (): Promise<boolean> =>
          watch
            .run(() => behind.get('commands').set('key', 'value'))
            .then(
              () => true,
              () => false,
            );
        await until(works);
        address.forget(named);
        await until(async () => !(await works()));
        await until(works);
        await until(async () => (await server.command('PUBLISH', named, 'new')) === 1);
        await until(() => heard.includes('new'));
        return watch.state;
      } finally {
        await close();
      }
    };
    const isGreetedLater = async (): Promise<RedisState> => {
      const silent = createServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { address, behind, watch, close } = await watchedAt((silent.address() as AddressInfo).port);
      const ofWorker = behind.get('worker').duplicate();
      try {
        await watch.onModuleInit();
        address.leadTo(server.port);
        await until(() => watch.state === 'ok' && ofWorker.status === 'ready');
        return watch.state;
      } finally {
        ofWorker.disconnect();
        await close();
        silent.close();
      }
    };
    // All of them; that of uses alone, while probes are answered; and new ones that were never answered.
    const all = [comesBack('spillway-'), comesBack('spillway-commands'), isGreetedLater()];
    expect(await Promise.all(all)).toEqual(['ok', 'ok', 'ok']);
  });

  it('stays without a Redis that answers later than uses wait', async () => {
    const { address, behind, watch, close } = await watchedAt(server.port);
    const states: RedisState[] = [];
    try {
      await watch.onModuleInit();
      watch.onStateChange(state => states.push(state));
      const write = () => watch.run(() => behind.get('commands').set('key', 'value')).catch(() => null);
      address.delay(70);
      for (let count = 0; count < 15; count++) {
        await write();
        await new Promise(resolve => setTimeout(resolve, 100));
      }
      expect(states).toEqual(['lost']);
      address.delay(0);
      await until(() => watch.state === 'ok');
    } finally {
      await close();
    }
  });

  it('waits for a frozen Redis once, and then not at all', async () => {
    await write();
    server.kill('SIGSTOP');
    const from = performance.now();
    await expect(write()).rejects.toBeInstanceOf(RedisUnavailable);
    expect(performance.now() - from).toBeLessThan(250 + BUSY_MS);
    const again = performance.now();
    const calls = Array.from({ length: 100 }, () => write(2 * BUSY_MS));
    expect((await Promise.allSettled(calls)).map(call => call.status)).toEqual(Array(100).fill('rejected'));
    expect(performance.now() - again).toBeLessThan(BUSY_MS);
  });

  it('sends nothing later that failed while Redis was away', async () => {
    await write();
    server.kill('SIGKILL');
    await becomes('lost');
    await expect(connections.get('commands').incr('counter')).rejects.toBeInstanceOf(Error);
    await expect(connections.get('queue').incr('counter')).rejects.toBeInstanceOf(Error);
    await server.restart();
    await becomes('ok');
    expect(await connections.get('commands').get('counter')).toBeNull();
  });

  it('takes a Redis that refuses writes for lost', async () => {
    await connections.get('commands').config('SET', 'maxmemory', '1');
    await expect(write()).rejects.toMatchObject({ reason: 'OOM' });
    // Probes find out that it still answers, but not as it should.
    await new Promise(resolve => setTimeout(resolve, 700));
    expect([guard.state, guard.reason]).toEqual(['lost', 'OOM']);
    await connections.get('commands').config('SET', 'maxmemory', '0');
    expect(await becomes('ok')).toBeLessThan(2000 + BUSY_MS);
  });

  it('knows what a full Redis would throw away', async () => {
    expect(await guard.evictionPolicy()).toBe('noeviction');
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await guard.evictionPolicy()).toBe('allkeys-lru');
  });

  it('passes on a mistake in what was asked, and stays', async () => {
    await connections.get('commands').set('text', 'not a list');
    await expect(guard.run(() => connections.get('commands').lpush('text', 'x'))).rejects.toThrow(/^WRONGTYPE/);
    await expect(guard.run(() => Promise.reject(new TypeError('a bug')))).rejects.toBeInstanceOf(TypeError);
    expect(guard.state).toBe('ok');
  });

  it('bears a burst that takes longer than the deadline, as long as answers come', async () => {
    const after = (ms: number): Promise<unknown> =>
      guard.run(() => new Promise(resolve => setTimeout(resolve, ms, ms)));
    const never = guard.run(() => new Promise(() => undefined));
    const burst = await Promise.allSettled([...[40, 80, 120, 160, 200, 230].map(after), never]);
    expect(burst.map(({ status }) => status)).toEqual([...Array(6).fill('fulfilled'), 'rejected']);
    expect(guard.state).toBe('ok');
  });

  it('bears it longer for a use whose own deadline is longer', async () => {
    const after = (ms: number, deadlineMs?: number): Promise<number> =>
      guard.run(() => new Promise<number>(resolve => setTimeout(resolve, ms, ms)), deadlineMs);
    const uses = [after(60), after(400, 200), after(700, 200)];
    const ends = await Promise.allSettled(uses);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(guard.state).toBe('ok');
  });

  it('keeps its subscriptions over a restart', async () => {
    const channels = new RedisChannels(connections);
    const heard: string[] = [];
    channels.channel('news', message => heard.push(message));
    server.kill('SIGKILL');
    await becomes('lost');
    await server.restart();
    await becomes('ok');
    while (heard.length === 0) {
      await channels.publish('news', 'again');
      await new Promise(resolve => setTimeout(resolve, 20));
    }
    expect(heard[0]).toBe('again');
  });
});

it('starts without Redis, and tells no secret in its errors', async () => {
  const connections = new RedisConnections({ url: 'redis://user:s3cret@127.0.0.1:1', prefix: 'p' });
  const guard = new RedisGuard(connections);
  await guard.onModuleInit();
  expect([guard.state, guard.reason]).toEqual(['lost', 'ECONNREFUSED']);
  const error = await guard.run(() => connections.get('commands').get('x')).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(RedisUnavailable);
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/s3cret|127\.0\.0\.1/);
  guard.onApplicationShutdown();
  await connections.onApplicationShutdown();
});

it('tells no secret when the password is wrong', async () => {
  const server = await startRedis({ settings: ['--requirepass', 'right'] });
  const connections = new RedisConnections({ url: server.url.replace('//', '//:s3cret@'), prefix: 'p' });
  const guard = new RedisGuard(connections);
  await guard.onModuleInit();
  expect([guard.state, guard.reason]).toEqual(['lost', 'WRONGPASS']);
  guard.onApplicationShutdown();
  await connections.onApplicationShutdown();
  await server.stop();
});
