import { MemorySeedLines, RedisSeedLines, type SeedLines } from '@spillway/seeding';
import { openRedis, type OpenRedis } from '../support/open-redis';

let redis: OpenRedis;

beforeAll(async () => {
  redis = await openRedis(`seed-lines-${process.pid}`);
});

afterAll(() => redis.close());

const STORES: [string, () => SeedLines][] = [
  ['memory', () => new MemorySeedLines()],
  ['redis', () => new RedisSeedLines(redis.connections.get('commands'), redis.guard, redis.connections.prefix)],
];

describe.each(STORES)('SeedLines: %s', (_, make) => {
  it('gives lines back in order, page by page, blank ones too', async () => {
    const lines = make();
    await lines.append('a', ['one', '', 'drei 🚀']);
    await lines.append('a', ['four']);
    await lines.append('b', ['other']);
    expect(await lines.page('a', 0, 2)).toEqual(['one', '']);
    expect(await lines.page('a', 2, 10)).toEqual(['drei 🚀', 'four']);
    expect(await lines.page('a', 4, 10)).toEqual([]);
  });

  it('forgets what is dropped, and nothing else', async () => {
    const lines = make();
    await lines.append('c', ['one']);
    await lines.append('d', ['other']);
    await lines.drop('c');
    await lines.drop('never there');
    expect(await lines.page('c', 0, 10)).toEqual([]);
    expect(await lines.page('d', 0, 10)).toEqual(['other']);
  });
});

it('lines in Redis do not stay for ever', async () => {
  const lines = new RedisSeedLines(redis.connections.get('commands'), redis.guard, redis.connections.prefix);
  await lines.append('kept', ['one']);
  const [key] = await redis.connections.get('commands').keys(`*${redis.connections.prefix}*kept`);
  expect(await redis.connections.get('commands').pttl(key ?? '')).toBeGreaterThan(24 * 3_600_000);
});
