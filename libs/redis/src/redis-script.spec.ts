import { startRedis, type RedisServer } from '../../../test/support/redis-server';
import { RedisConnections } from './redis-connections';
import { defineScript } from './redis-script';

describe('defineScript', () => {
  let server: RedisServer;
  let connections: RedisConnections;
  const count = defineScript('count', "return redis.call('INCRBY', KEYS[1], ARGV[1])", 1);

  beforeEach(async () => {
    server = await startRedis();
    connections = new RedisConnections({ url: server.url, prefix: 'p' });
    await connections.ready();
  });
  afterEach(async () => {
    await connections.onApplicationShutdown();
    await server.stop();
  });

  it('counts each call once when the server has forgotten the script', async () => {
    const connection = connections.get('commands');
    expect(await count.run(connection, ['a'], [1])).toBe(1);
    const calls: Promise<unknown>[] = [];
    for (let at = 0; at < 200; at++) {
      if (at % 50 === 0) calls.push(connection.script('FLUSH'));
      calls.push(count.run(connection, ['a'], [1]));
    }
    await Promise.all(calls);
    expect(await connection.get('a')).toBe('201');
  });

  it('works pipelined', async () => {
    await Promise.all(Array.from({ length: 50 }, () => count.run(connections.get('commands'), ['a'], [1])));
    expect(await connections.get('commands').get('a')).toBe('50');
  });

  it('replays no other error', async () => {
    const connection = connections.get('commands');
    const failing = defineScript('failing', "redis.call('INCR', KEYS[1]) return redis.error_reply('NOPE later')", 1);
    await expect(failing.run(connection, ['a'], [])).rejects.toThrow('NOPE later');
    await expect(failing.run(connection, ['a'], [])).rejects.toThrow('NOPE later');
    expect(await connection.get('a')).toBe('2');
  });

  it('refuses a wrong number of keys', async () => {
    await expect(count.run(connections.get('commands'), ['a', 'b'], [1])).rejects.toThrow('takes 1 keys');
  });
});

it('works where the SCRIPT command is forbidden', async () => {
  const server = await startRedis({ settings: ['--rename-command', 'SCRIPT', ''] });
  const connections = new RedisConnections({ url: server.url, prefix: 'p' });
  await connections.ready();
  const echo = defineScript('echo', 'return ARGV[1]', 0);
  expect([
    await echo.run(connections.get('commands'), [], ['x']),
    await echo.run(connections.get('commands'), [], ['y']),
  ]).toEqual(['x', 'y']);
  await connections.onApplicationShutdown();
  await server.stop();
});
