import { ApiClient, until, type Reply } from '../support/api-client';
import { startGateway, type Gateway } from '../support/gateway';
import { completion, stream } from '../support/model-answers';
import { startRedis, type RedisServer } from '../support/redis-server';
import { startUpstream, type Upstream } from '../support/scripted-upstream';
import { ask, worldConfiguration } from '../support/world';

let redis: RedisServer;
let upstream: Upstream;
let gateways: Gateway[];
let clients: [ApiClient, ApiClient];
let questions = 0;

beforeAll(async () => {
  [redis, upstream] = await Promise.all([startRedis(), startUpstream([])]);
  const configuration = worldConfiguration({ primary: upstream.url, fallback: upstream.url }, { cache: true });
  const env = { REDIS_URL: redis.url };
  gateways = await Promise.all([startGateway({ configuration, env }), startGateway({ configuration, env })]);
  clients = gateways.map(({ url }) => new ApiClient(url, 'KEY_A')) as [ApiClient, ApiClient];
});

afterAll(async () => {
  await Promise.all(gateways.map(gateway => gateway.stop()));
  await Promise.all([upstream.close(), redis.stop()]);
});

const outcomeOf = ({ headers }: Reply): string => headers.get('x-spillway-outcome') ?? '';

describe('fifty equal calls over two gateways', () => {
  const shapes: [string, (index: number) => boolean][] = [
    ['JSON', () => false],
    ['streams', () => true],
    ['both', index => index % 3 === 0],
  ];

  it.each(shapes)('are one call of the model: %s', async (_, streams) => {
    upstream.script(({ body }) => ({
      ttfb_ms: 800,
      ...(body.includes('"stream":true') ? stream('po', 'ng') : completion('pong')),
    }));
    const body = ask(`question ${++questions}`);
    const calls = Array.from({ length: 50 }, (_item, index) => {
      const client = clients[index % 2 === 0 ? 0 : 1];
      return streams(index) ? client.stream({ body }) : client.send({ body });
    });
    const replies = await Promise.all(calls);
    expect(new Set(replies.map(({ status, said }) => `${status} ${said}`))).toEqual(new Set(['200 pong']));
    expect(replies.filter(reply => outcomeOf(reply) === 'coalesced')).toHaveLength(49);
    expect(upstream.requests).toHaveLength(1);
  });

  it('go on when the gateway that made the call has lost its caller', async () => {
    upstream.script(() => ({ ttfb_ms: 400, ...completion('pong') }));
    const body = ask(`question ${++questions}`);
    const leaving = new AbortController();
    const leader = clients[0].send({ body, signal: leaving.signal }).catch((error: unknown) => error);
    await until(() => upstream.requests.length === 1);
    const follower = clients[1].send({ body });
    await new Promise(resolve => setTimeout(resolve, 150));
    leaving.abort();
    const reply = await follower;
    await leader;
    expect([reply.said, outcomeOf(reply), upstream.requests.length]).toEqual(['pong', 'coalesced', 1]);
  });
});
