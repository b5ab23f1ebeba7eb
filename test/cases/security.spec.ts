import { Redis } from 'ioredis';
import { ApiClient } from '../support/api-client';
import { completion, refusal } from '../support/model-answers';
import { freePort, startRedis } from '../support/redis-server';
import { startUpstream } from '../support/scripted-upstream';
import { startSpillway } from '../support/spillway';
import { ask, startWorld, worldConfiguration, type World } from '../support/world';

const ADMIN_KEY = 'ADMIN_KEY_1';

describe('F01 secrets', () => {
  const WRONG = 'sk-wrong-client-key-123456';
  const IN_QUERY = 'sk-query-key-123456';
  const REDIS_PASSWORD = 'redis-password-123456';
  const PROMPT = 'the-prompt-nobody-may-read';
  const SECRETS = [WRONG, IN_QUERY, 'UPSTREAM_KEY_1', 'FALLBACK_KEY', REDIS_PASSWORD, 'AIzaSyFAKE', 'KEY_A', ADMIN_KEY];

  it('are in no log at its most talkative, no metric, no answer and nothing that Redis holds', async () => {
    const redis = await startRedis({ settings: ['--requirepass', REDIS_PASSWORD] });
    const upstream = await startUpstream([]);
    const unreachable = `http://127.0.0.1:${await freePort()}`;
    const spillway = await startSpillway({
      configuration: worldConfiguration(
        { primary: upstream.url, fallback: unreachable },
        {
          cache: true,
          configuration: { admin: { key: ADMIN_KEY }, log: { level: 'trace' }, redis: { prefix: 'f01' } },
        },
      ),
      env: { REDIS_URL: redis.url.replace('redis://', `redis://:${REDIS_PASSWORD}@`) },
    });
    const client = new ApiClient(spillway.url, 'KEY_A');
    const told: string[] = [];
    const keep = ({ raw, headers }: { raw: string; headers: Headers }): void => {
      told.push(raw, JSON.stringify([...headers]));
    };

    upstream.script([
      { no_response: 'reset' },
      refusal(400, null, 'bad key AIzaSyFAKEFAKEFAKEFAKE and Bearer UPSTREAM_KEY_1'),
      refusal(401, 'invalid_api_key', 'Incorrect API key provided: UPSTREAM_KEY_1'),
      completion(`${'x'.repeat(60)} the end`),
    ]);
    keep(await client.as(WRONG).send({ body: ask(PROMPT) }));
    keep(await client.get(`/v1/models?api_key=${IN_QUERY}`));
    keep(await client.get(`/nowhere?api_key=${IN_QUERY}`));
    keep(await client.send({ body: ask(PROMPT, { model: 'alone' }) }));
    const refused = await client.send({ body: ask(PROMPT, { model: 'alone' }) });
    expect([refused.status, refused.raw]).toEqual([400, expect.stringContaining('bad key [redacted]')]);
    keep(refused);
    keep(await client.send({ body: ask(PROMPT, { model: 'alone' }) }));
    keep(await client.send({ body: ask(PROMPT, { model: 'fallback' }) }));
    keep(await client.send({ body: ask(PROMPT, { model: 'alone' }) }));
    keep(await client.send({ body: '{"broken": ' }));
    keep(await client.get('/metrics', { authorization: `Bearer ${ADMIN_KEY}` }));
    keep(await client.get('/admin/status', { authorization: `Bearer ${ADMIN_KEY}` }));

    const store = new Redis(redis.url, { password: REDIS_PASSWORD });
    const keys = await store.keys('*');
    const kept = await Promise.all(keys.map(async key => `${key} ${String(await store.dumpBuffer(key))}`));
    await store.quit();
    await spillway.stop();
    await Promise.all([redis.stop(), upstream.close()]);

    expect(kept.length).toBeGreaterThan(0);
    expect(spillway.logLines().length).toBeGreaterThanOrEqual(9);
    for (const secret of SECRETS) {
      expect({ secret, found: [...told, ...kept, spillway.output()].filter(text => text.includes(secret)) }).toEqual({
        secret,
        found: [],
      });
    }
    expect(spillway.output()).not.toContain(PROMPT);
  });
});

describe('F03 the doors of operators', () => {
  let world: World;
  let client: ApiClient;

  beforeAll(async () => {
    world = await startWorld({ configuration: { admin: { key: ADMIN_KEY } } });
    ({ client } = world);
    world.primary.script([completion('pong')]);
  });
  afterAll(() => world.stop());

  const strangers: Record<string, string>[] = [
    {},
    { authorization: 'Bearer KEY_A' },
    { authorization: 'Bearer ' },
    { authorization: ADMIN_KEY },
  ];
  const doors: [string, string][] = [
    ['GET', '/metrics'],
    ['GET', '/metrics/'],
    ['GET', '/METRICS'],
    ['GET', '//metrics'],
    ['GET', '/%6detrics'],
    ['GET', '/admin/status'],
    ['GET', '/admin/queues'],
    ['POST', '/admin/reload'],
    ['DELETE', '/admin/cache'],
    ['POST', '/admin/cache/flush'],
    ['HEAD', '/metrics'],
  ];

  it.each(doors)('are closed to all but the admin key: %s %s', async (method, path) => {
    for (const headers of strangers) {
      const reply = await client.request(method, path, headers);
      expect([401, 403, 404]).toContain(reply.status);
      expect(reply.raw).not.toContain('spillway_');
    }
  });

  it('open to the admin key, which is no key for calls', async () => {
    const authorization = `Bearer ${ADMIN_KEY}`;
    expect((await client.get('/metrics', { authorization })).raw).toContain('spillway_requests_total');
    expect((await client.get('/admin/status', { authorization })).status).toBe(200);
    expect((await client.as(ADMIN_KEY).send({ body: ask('hi') })).status).toBe(401);
  });

  it('show metrics whose series do not grow with what callers invent', async () => {
    const series = async (): Promise<string[]> => {
      const { raw } = await client.get('/metrics', { authorization: `Bearer ${ADMIN_KEY}` });
      return raw.split('\n').filter(line => line !== '' && !line.startsWith('#'));
    };
    const oddities = async (from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index++) {
        await Promise.all([
          client.send({ body: ask('ping', { model: `typo-${index}` }) }),
          client.get(`/files/${index}.php`),
          client.send({ body: ask('u', { user: `user-${index}` }), headers: { 'x-spillway-scope': `scope-${index}` } }),
        ]);
      }
    };
    await oddities(0, 5);
    const before = await series();
    await oddities(5, 105);
    const after = await series();
    expect(after.length - before.length).toBeLessThan(5);
    expect(after.join('\n')).not.toMatch(/typo-|user-\d|scope-\d|\.php/);
  });
});
