import { MemoryGenerations, RedisGenerations, type CacheGenerations, type Clearing } from '@spillway/cache';
import { openRedis, type OpenRedis } from '../support/open-redis';

let redis: OpenRedis;
let prefixes = 0;
const started: RedisGenerations[] = [];

beforeAll(async () => {
  redis = await openRedis(`generations-${process.pid}`);
});

afterEach(() => started.splice(0).forEach(generations => generations.beforeApplicationShutdown()));

afterAll(() => redis.close());

async function redisGenerations(prefix = `${redis.connections.prefix}:${prefixes++}`): Promise<RedisGenerations> {
  const generations = new RedisGenerations(redis.connections.get('commands'), redis.guard, prefix);
  started.push(generations);
  await generations.onModuleInit();
  return generations;
}

const PLACES: [route: string, scope: string][] = ['', 'a', 'b', 'null'].flatMap(route =>
  ['', 'a', 'b', 'null'].map((scope): [string, string] => [route, scope]),
);

describe.each<[string, () => Promise<CacheGenerations>]>([
  ['memory', async () => new MemoryGenerations()],
  ['redis', () => redisGenerations()],
])('CacheGenerations: %s', (_, start) => {
  it.each<[string, Clearing, (route: string, scope: string) => boolean]>([
    ['everything', {}, () => true],
    ['a route', { route: 'a' }, route => route === 'a'],
    ['a scope', { scope: 'a' }, (_route, scope) => scope === 'a'],
    ['the calls without a scope', { scope: '' }, (_route, scope) => scope === ''],
    ['a scope within a route', { route: 'a', scope: 'b' }, (route, scope) => route === 'a' && scope === 'b'],
    ['a route called null', { route: 'null' }, route => route === 'null'],
  ])('clears %s and nothing else, as often as asked', async (_name, what, applies) => {
    const generations = await start();
    for (let time = 0; time < 3; time++) {
      const before = PLACES.map(place => generations.current(...place));
      await generations.clear(what);
      PLACES.forEach((place, index) => {
        expect([place, generations.current(...place) !== before[index]]).toEqual([place, applies(...place)]);
      });
    }
  });

  it('never comes back to an earlier generation', async () => {
    const generations = await start();
    const seen = [generations.current('a', 'b')];
    for (const what of [{ route: 'a' }, { scope: 'b' }, {}, { route: 'a', scope: 'b' }, { route: 'a' }]) {
      await generations.clear(what);
      seen.push(generations.current('a', 'b'));
    }
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('remembers so many clearings and then clears everything', async () => {
    const generations = await start();
    const before = generations.current('untouched', '');
    const clearAll = async (from: number, to: number): Promise<void> => {
      for (let next = from; next < to; next += 100) {
        const scopes = Array.from({ length: Math.min(100, to - next) }, (_scope, index) => String(next + index));
        await Promise.all(scopes.map(scope => generations.clear({ scope })));
      }
    };
    await clearAll(0, 10_000);
    expect(generations.current('untouched', '')).toBe(before);
    await clearAll(10_000, 10_001);
    expect(generations.current('untouched', '')).not.toBe(before);
    const after = generations.current('untouched', '');
    await clearAll(0, 1);
    expect(generations.current('untouched', '')).toBe(after);
  });
});

describe('RedisGenerations', () => {
  it('reaches every process within a second, also one that starts later', async () => {
    const prefix = `${redis.connections.prefix}:shared`;
    const [one, other] = [await redisGenerations(prefix), await redisGenerations(prefix)];
    expect(other.current('a', 'b')).toBe(one.current('a', 'b'));

    await one.clear({ route: 'a' });
    const since = performance.now();
    while (other.current('a', 'b') !== one.current('a', 'b') && performance.now() - since < 3000) {
      await new Promise(resolve => setTimeout(resolve, 10));
    }
    // A second, and some for a busy machine.
    expect(performance.now() - since).toBeLessThan(3000);
    expect((await redisGenerations(prefix)).current('a', 'b')).toBe(one.current('a', 'b'));
  });

  it('goes on when Redis has forgotten everything', async () => {
    const prefix = `${redis.connections.prefix}:forgotten`;
    const generations = await redisGenerations(prefix);
    await generations.clear({});
    const before = generations.current('a', 'b');
    await redis.connections.get('commands').del(`${prefix}:cache:clearings`);
    await generations.clear({ scope: 'b' });
    expect(Number(generations.current('a', 'b'))).toBeGreaterThan(Number(before));
  });

  it('uses generations of its own until it knows what was cleared', async () => {
    const lost = { run: () => Promise.reject(new Error('lost')) };
    const [one, other] = [0, 1].map(
      () => new RedisGenerations(redis.connections.get('commands'), lost, redis.connections.prefix),
    );
    expect(one?.current('a', 'b')).toBe(one?.current('a', 'b'));
    expect(one?.current('a', 'b')).not.toBe(other?.current('a', 'b'));
    await expect(one?.clear({})).rejects.toThrow('lost');
  });
});
