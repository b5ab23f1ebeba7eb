import { until, type ApiClient, type Reply } from '../support/api-client';
import { completion } from '../support/model-answers';
import { startRedis, type RedisServer } from '../support/redis-server';
import { ask, startWorld, type World, type WorldOptions } from '../support/world';

let redis: RedisServer;
let world: World;
let client: ApiClient;

const start = async (options: WorldOptions): Promise<void> => {
  world = await startWorld({ ...options, env: { REDIS_URL: redis.url } });
  ({ client } = world);
  world.primary.script(() => completion('pong'));
};
afterEach(async () => {
  await world.stop();
  await redis.stop();
});

const send = (content: string, path = '/v1/chat/completions'): Promise<Reply> =>
  client.send({ body: ask(content, { model: 'alone' }), path });
const left = ({ headers }: Reply): number => Number(headers.get('x-ratelimit-remaining-requests'));
const partIs = async (state: string): Promise<boolean> =>
  (JSON.parse((await client.get('/readyz')).raw) as { parts: { redis: string } }).parts.redis === state;

describe('E06 a Redis that has forgotten its scripts', () => {
  const LIMITED = {
    model: { limits: { rpm: 100, inflight: 10 }, headroom: 0 },
    configuration: { keys: [{ name: 'a', key: 'KEY_A', limits: { rpm: 100, inflight: 5 } }] },
  };
  const leftOfModel = (): Promise<number> => client.metric('ratelimit_remaining', { model: 'primary', limit: 'rpm' });

  it('is told them again: every call is answered, and counted once', async () => {
    redis = await startRedis();
    await start(LIMITED);
    for (const [calls, question] of ['one', 'two', 'three'].entries()) {
      await redis.command('SCRIPT', 'FLUSH');
      const reply = await send(question);
      expect([reply.status, reply.said, left(reply)]).toEqual([200, 'pong', 99 - calls]);
      await until(async () => (await client.metric('spillway_model_inflight')) === 0);
      await until(async () => (await leftOfModel()) === 99 - calls);
    }
    expect(world.primary.requests).toHaveLength(3);
  });

  it('and all else as well begins anew, and no call fails', async () => {
    redis = await startRedis();
    await start(LIMITED);
    await send('before');
    redis.kill('SIGKILL');
    const replies = [await send('meanwhile')];
    await redis.restart({ empty: true });
    await until(() => partIs('ok'));
    for (const question of ['after', 'and after']) replies.push(await send(question));
    expect(replies.map(({ status, said }) => [status, said])).toEqual(replies.map(() => [200, 'pong']));
    const [, first, second] = replies as [Reply, Reply, Reply];
    expect(left(first) - left(second)).toBe(1);
    expect(world.gateway.log.lines.filter(line => JSON.stringify(line).includes('NOSCRIPT'))).toEqual([]);
  });
});

it('E07 all that a call needs of Redis works in a cluster, where the keys of one command lie together', async () => {
  redis = await startRedis({ settings: ['--cluster-enabled', 'yes'] });
  await redis.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await until(async () => String(await redis.command('CLUSTER', 'INFO')).includes('cluster_state:ok'));
  await start({
    cache: true,
    model: { limits: { rpm: 1_000, tpm: 1_000_000, inflight: 1 }, headroom: 0 },
    configuration: { keys: [{ name: 'a', key: 'KEY_A', limits: { rpm: 100, tpm: 100_000, inflight: 50 } }] },
  });
  world.primary.script(() => ({ ...completion('pong'), ttfb_ms: 40 }));
  const classes = ['critical', 'normal', 'low'];
  const replies = await Promise.all(
    classes.flatMap(priority => [1, 2].map(n => send(`${priority} ${n}`, `/${priority}/v1/chat/completions`))),
  );
  expect(replies.map(({ status, said }) => [status, said])).toEqual(replies.map(() => [200, 'pong']));
  expect(replies.filter(({ headers }) => Number(headers.get('x-spillway-queue-ms')) > 20).length).toBeGreaterThan(3);
  const body = ask('later', { model: 'alone' });
  const job = await client.send({ body, headers: { prefer: 'respond-async' } });
  const jobIs = async (): Promise<string> => {
    const { raw } = await client.get(job.headers.get('location') ?? '', { authorization: 'Bearer KEY_A' });
    return (JSON.parse(raw) as { status: string }).status;
  };
  await until(async () => (await jobIs()) === 'succeeded');
  expect((await send('low 2')).headers.get('x-spillway-cache')).toBe('HIT');
  expect((await client.request('DELETE', '/admin/cache?route=alone')).status).toBe(200);
  expect((await send('low 2')).headers.get('x-spillway-cache')).toBe('MISS');
  // A script that meets keys of several slots would have been taken for a Redis that is lost, or been logged.
  expect(await partIs('ok')).toBe(true);
  const troubled = world.gateway.log.lines.filter(line => /slot|moved|script/i.test(JSON.stringify(line)));
  expect(troubled).toEqual([]);
});
