import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ask, callerOf } from '../support/caller';
import { startGateway, type Gateway } from '../support/gateway';
import { completion } from '../support/model-answers';
import { eventually } from '../support/operator';
import { startRedis, type RedisServer } from '../support/redis-server';
import { startUpstream, type Upstream } from '../support/scripted-upstream';

interface Status {
  readonly limits: readonly { readonly limit: string; readonly admitted: number }[];
  readonly effective: { readonly inflight: number | null; readonly why: readonly string[] };
}

describe('the limits of a model', () => {
  let redis: RedisServer;
  let upstream: Upstream;
  let page: Server;
  const gateways: Gateway[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    upstream = await startUpstream(() => completion('ok'));
    page = createServer((_, response) => response.end('vllm:kv_cache_usage_perc{engine="0"} 0.75\n'));
    page.listen(0, '127.0.0.1');
    await once(page, 'listening');
  });

  afterEach(() => Promise.all(gateways.splice(0).map(gateway => gateway.stop())));

  afterAll(async () => {
    page.close();
    await upstream.close();
    await redis.stop();
  });

  const start = async (model: object, prefix: string): Promise<Gateway> => {
    const gateway = await startGateway({
      configuration: {
        redis: { prefix },
        providers: { p: { base_url: `${upstream.url}/v1` } },
        models: { m: { provider: 'p', headroom: 0, ...model } },
      },
      env: { REDIS_URL: redis.url },
    });
    gateways.push(gateway);
    return gateway;
  };
  const statusOf = async ({ url }: Gateway): Promise<Status> => {
    const { models } = (await (await fetch(`${url}/admin/status`)).json()) as { models: Record<string, Status> };
    return models['m'] ?? { limits: [], effective: { inflight: NaN, why: [] } };
  };
  const admitted = ({ limits }: Status): Record<string, number> =>
    Object.fromEntries(limits.map(({ limit, admitted }) => [limit, admitted]));

  it('are part of them while it is new to the installation, whichever process used it first', async () => {
    const limits = { rpm: 100, inflight: 8 };
    const model = { limits, warmup: { factor: 0.5, hours: 2 / 3600 } };
    const [one, other] = [await start(model, 'warm'), await start(model, 'warm')];
    expect(admitted(await statusOf(one))).toMatchObject({ rpm: 50, inflight: 4 });
    expect((await statusOf(one)).effective).toMatchObject({ inflight: 4, why: ['configured', 'warm-up'] });

    await ask(callerOf(one.url), 'm', 'hello');
    await eventually(async () => (await statusOf(one)).effective.inflight === 8);
    await eventually(async () => (await statusOf(other)).effective.inflight === 8);
    expect(admitted(await statusOf(other))).toMatchObject({ rpm: 100, inflight: 8 });

    const later = await start(model, 'warm');
    expect((await statusOf(later)).effective).toMatchObject({ inflight: 8, why: ['configured'] });
  });

  it('are fewer tokens while its server says that it is full', async () => {
    const { port } = page.address() as AddressInfo;
    const gateway = await start(
      { limits: { rpm: 100, tpm: 1000 }, load_url: `http://127.0.0.1:${port}/metrics` },
      'load',
    );
    await eventually(async () => (await statusOf(gateway)).effective.why.includes('load'));
    expect(admitted(await statusOf(gateway))).toMatchObject({ rpm: 100, tpm: 250 });
  });
});
