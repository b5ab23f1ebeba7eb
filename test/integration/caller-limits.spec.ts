import { Redis } from 'ioredis';
import { ApiClient, until, type Reply } from '../support/api-client';
import { startGateway, type Gateway } from '../support/gateway';
import { completion } from '../support/model-answers';
import { startRedis, type RedisServer } from '../support/redis-server';
import { startUpstream, type Upstream } from '../support/scripted-upstream';
import { ask, worldConfiguration } from '../support/world';

describe('limits of callers, in two processes on one Redis', () => {
  let redis: RedisServer;
  let upstream: Upstream;
  let gateways: readonly [Gateway, Gateway];
  let clients: readonly [ApiClient, ApiClient];

  const start = async (limits: object, users = {}): Promise<void> => {
    const configuration = worldConfiguration(
      { primary: upstream.url, fallback: upstream.url },
      {
        configuration: {
          keys: [{ name: 'a', key: 'KEY_A', limits }],
          users,
          scheduling: { lease_ms: 1_500, claim_ms: 600 },
        },
      },
    );
    const one = (): Promise<Gateway> => startGateway({ configuration, env: { REDIS_URL: redis.url } });
    gateways = [await one(), await one()];
    clients = [new ApiClient(gateways[0].url, 'KEY_A'), new ApiClient(gateways[1].url, 'KEY_A')];
  };
  const send = (index: number, content: string, more: object = {}): Promise<Reply> =>
    (index % 2 === 0 ? clients[0] : clients[1]).send({ body: ask(content, { model: 'alone', ...more }) });
  const served = (replies: readonly Reply[]): number => replies.filter(({ status }) => status === 200).length;
  const many = (count: number, content = 'call'): Promise<Reply[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => send(index, `${content} ${index}`)));

  beforeEach(async () => {
    redis = await startRedis();
    upstream = await startUpstream([completion('pong')]);
  });
  afterEach(async () => {
    await Promise.all(gateways.map(gateway => gateway.stop()));
    await upstream.close();
    await redis.stop();
  });

  it('are shared', async () => {
    await start({ rpm: 20 });
    expect(served(await many(60))).toBe(20);
    expect(upstream.requests).toHaveLength(20);
  });

  it('hold a slot for as long as a call takes, longer than its lease', async () => {
    await start({ inflight: 2 });
    upstream.script([{ ...completion('slow'), ttfb_ms: 3_000 }]);
    const slow = Promise.all([send(0, 'one'), send(1, 'two')]);
    await until(() => upstream.requests.length === 2);
    const startedAt = Date.now();
    while (Date.now() - startedAt < 2_500) expect(served([await send(0, 'meanwhile')])).toBe(0);
    expect(served(await slow)).toBe(2);
    upstream.script([completion('pong')]);
    await until(async () => served(await many(2)) === 2);
  });

  it('are decided by each process alone while Redis is lost, and together when it is back', async () => {
    await start({ rpm: 5, inflight: 20 });
    await many(2);
    redis.kill('SIGKILL');
    const lost = async ({ url }: ApiClient): Promise<boolean> =>
      (await (await fetch(`${url}/readyz`)).text()).includes('"redis":"lost"');
    await until(async () => (await lost(clients[0])) && (await lost(clients[1])));
    expect(served(await many(30, 'without'))).toBe(10);
    await redis.restart();
    await until(async () => !(await lost(clients[0])) && !(await lost(clients[1])));
    expect(served(await many(30, 'with'))).toBe(5);
  });

  it('know end users by nothing that says who they are', async () => {
    await start({}, { rpm: 2 });
    const user = 'ann@example.org';
    const replies = [];
    for (let call = 0; call < 3; call++) replies.push(await send(call, `question ${call}`, { user }));
    expect(served(replies)).toBe(2);
    const store = new Redis(redis.url);
    const keys = await store.keys('*');
    const held = [...keys];
    for (const key of keys) {
      const type = await store.type(key);
      if (type === 'hash') held.push(JSON.stringify(await store.hgetall(key)));
      if (type === 'zset') held.push(JSON.stringify(await store.zrange(key, '0', '-1')));
    }
    store.disconnect();
    expect(held.join('\n')).toContain('user:');
    expect(held.join('\n')).not.toContain('ann@');
  });
});
