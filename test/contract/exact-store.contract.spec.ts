import { LayeredStore, MemoryStore, RedisStore, type CachedAnswer, type ExactStore } from '@spillway/cache';
import { SystemClock } from '@spillway/contracts';
import { RedisConnections, RedisGuard } from '@spillway/redis';
import { startRedis } from '../support/redis-server';
import { ManualClock } from '../support/manual-clock';
import { openRedis, redisTimeoutMs, type OpenRedis } from '../support/open-redis';

const bounds = { entries: 3, bytes: 100_000 };
let stores = 0;
let redis: OpenRedis;

beforeAll(async () => {
  redis = await openRedis(`exact-store-${process.pid}`);
});

afterAll(() => redis.close());

function redisStore(clock: ManualClock): RedisStore {
  return new RedisStore(
    redis.connections.get('commands'),
    redis.guard,
    `${redis.connections.prefix}:${stores++}`,
    clock,
  );
}

const STORES: [string, (clock: ManualClock) => ExactStore][] = [
  ['memory', clock => new MemoryStore(bounds, clock)],
  ['redis', redisStore],
  ['layered', clock => new LayeredStore(new MemoryStore(bounds, clock), redisStore(clock))],
];

describe.each(STORES)('ExactStore: %s', (_, storeWith) => {
  let clock: ManualClock;
  let store: ExactStore;

  beforeEach(() => {
    clock = new ManualClock(new SystemClock().now());
    store = storeWith(clock);
  });

  const answer = (more: Partial<CachedAnswer> = {}): CachedAnswer => ({
    rest: '"choices":[{"message":{"content":"line1\\n\\"quoted\\" \u2028 🚀"}}]}',
    model: 'gpt-4o',
    usage: { input: 5, output: 1 },
    digest: null,
    madeAt: clock.time,
    expiresAt: clock.time + 60_000,
    ...more,
  });

  it('misses what was never kept', async () => {
    expect(await store.get('a')).toBeNull();
  });

  it('gives what was kept, as it was', async () => {
    await store.set('a', answer());
    await store.set('b', answer({ model: null, usage: null, digest: null, rest: '"a":1}' }));
    expect(await store.get('a')).toEqual(answer());
    expect(await store.get('a')).toEqual(answer());
    expect(await store.get('b')).toEqual(answer({ model: null, usage: null, digest: null, rest: '"a":1}' }));
  });

  it('replaces what was there', async () => {
    await store.set('a', answer());
    await store.set('a', answer({ model: 'other' }));
    expect(await store.get('a')).toEqual(answer({ model: 'other' }));
  });

  it('never gives what has expired, however long it lies there', async () => {
    await store.set('a', answer());
    clock.time += 59_999;
    expect(await store.get('a')).not.toBeNull();
    clock.time += 1;
    expect(await store.get('a')).toBeNull();
  });

  it('gives what has expired only to those who take that, and for as long as it says', async () => {
    await store.set('a', answer({ staleUntil: clock.time + 90_000 }));
    await store.set('b', answer());
    clock.time += 60_000;
    expect(await store.get('a')).toBeNull();
    expect(await store.getStale('a')).toMatchObject({ model: 'gpt-4o' });
    expect(await store.getStale('b')).toBeNull();
    clock.time += 30_000;
    expect(await store.getStale('a')).toBeNull();
  });

  it('does not keep what has expired already', async () => {
    await store.set('a', answer({ expiresAt: clock.time }));
    expect(await store.get('a')).toBeNull();
  });
});

const plain = ({ time }: ManualClock, keptMs: number): CachedAnswer => ({
  rest: '"a":1}',
  model: null,
  usage: null,
  digest: null,
  madeAt: time,
  expiresAt: time + keptMs,
});

describe('LayeredStore', () => {
  it('keeps near what was far, no longer than that, and then asks no more', async () => {
    const clock = new ManualClock(new SystemClock().now());
    const far = redisStore(clock);
    const asked = jest.spyOn(far, 'get');
    const store = new LayeredStore(new MemoryStore(bounds, clock), far);
    const kept = plain(clock, 1000);
    await far.set('a', kept);

    expect(await store.get('a')).toEqual(kept);
    expect(await store.get('a')).toEqual(kept);
    expect(asked).toHaveBeenCalledTimes(1);
    clock.time += 1000;
    expect(await store.get('a')).toBeNull();
  });

  it('shares between processes', async () => {
    const clock = new ManualClock(new SystemClock().now());
    const far = redisStore(clock);
    const [one, other] = [0, 1].map(() => new LayeredStore(new MemoryStore(bounds, clock), far));
    const kept = plain(clock, 1000);
    await one?.set('a', kept);
    expect(await other?.get('a')).toEqual(kept);
  });
});

describe('RedisStore', () => {
  it.each(['SIGSTOP', 'SIGKILL'] as const)(
    'only misses when Redis is lost (%s), and near answers stay',
    async signal => {
      const server = await startRedis();
      const lost = new RedisConnections({ url: server.url, prefix: 'lost', timeoutMs: redisTimeoutMs(server.url) });
      await lost.onModuleInit();
      const clock = new ManualClock(new SystemClock().now());
      const far = new RedisStore(lost.get('commands'), new RedisGuard(lost), lost.prefix, clock);
      const store = new LayeredStore(new MemoryStore(bounds, clock), far);
      const kept = plain(clock, 60_000);
      await store.set('a', kept);
      await far.set('b', kept);
      expect(await far.get('b')).toEqual(kept);

      server.kill(signal);
      expect(await store.get('b')).toBeNull();
      await store.set('c', kept);
      expect([await store.get('a'), await store.get('c'), await far.get('c')]).toEqual([kept, kept, null]);
      await lost.onApplicationShutdown();
      await server.stop();
    },
  );

  it('lets Redis forget in time, and misses what it does not understand', async () => {
    const clock = new ManualClock(new SystemClock().now());
    const commands = redis.connections.get('commands');
    const store = new RedisStore(commands, redis.guard, `${redis.connections.prefix}:plain`, clock);
    await store.set('a', plain(clock, 5000));
    const [key] = (await commands.keys(`${redis.connections.prefix}:plain:*`)) as [string];
    const left = await commands.pttl(key);
    expect(left).toBeGreaterThan(3000);
    expect(left).toBeLessThanOrEqual(5000);

    for (const odd of ['', 'x', '{}\n', '{"expiresAt":"x"}\nx', 'null\nx', '{\nx']) {
      await commands.set(key, odd);
      expect(await store.get('a')).toBeNull();
    }
    await commands.del(key);
    await commands.lpush(key, 'a list');
    expect(await store.get('a')).toBeNull();
  });
});
