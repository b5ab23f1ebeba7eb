import { RedisConnections, RedisGuard } from '@spillway/redis';
import { receiveLines } from './receive-lines';
import { RedisSeedLines } from './redis-seed-lines';

async function* repeated(line: string, times: number): AsyncGenerator<string> {
  for (let time = 0; time < times; time++) yield line;
}

describe('lines that come in great numbers', () => {
  let connections: RedisConnections;
  beforeAll(async () => {
    const url = process.env['SPILLWAY_TEST_REDIS_URL'] ?? '';
    connections = new RedisConnections({ url, prefix: `receive-${process.pid}` });
    await connections.ready();
  });
  afterAll(() => connections.onApplicationShutdown());

  it('are kept, however short they are', async () => {
    const kept = new RedisSeedLines(connections.get('commands'), new RedisGuard(connections), connections.prefix);
    const { total } = await receiveLines('blank', repeated('', 200_000), kept);
    expect(total).toBe(0);
    expect(await kept.page('blank', 199_998, 10)).toEqual(['', '']);
    await kept.drop('blank');
  });
});
