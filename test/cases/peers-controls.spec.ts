import { ApiClient, until, type Reply } from '../support/api-client';
import { completion, refusal } from '../support/model-answers';
import { ask, startWorld, type World, type WorldOptions } from '../support/world';

const ONE_AT_A_TIME = { limits: { inflight: 1 }, headroom: 0 };

let world: World;
let client: ApiClient;

async function start(options: WorldOptions = {}): Promise<void> {
  world = await startWorld(options);
  ({ client } = world);
  world.primary.script([completion('pong')]);
  world.fallback.script([completion('from fallback')]);
}
afterEach(() => world.stop());

const send = (text: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Reply> =>
  client.send({ body: ask(text, { model: 'alone' }), headers, signal });

/** Keeps the only place of the model for a while. */
async function occupy(ms: number): Promise<void> {
  world.primary.script([{ ...completion('first'), ttfb_ms: ms }, completion('pong')]);
  void send('first');
  await until(() => world.primary.requests.length === 1);
}

describe('row 2: what is meant for the router', () => {
  const TRACE = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'vendor=1' };
  const FOR_THE_ROUTER = {
    'x-spillway-priority': 'low',
    'x-spillway-scope': 'product-1',
    'x-spillway-user': 'user-1',
    'x-spillway-max-wait-ms': '1000',
    'x-ark-max-wait-timeout-ms': '1000',
    'x-spillway-future-control': '1',
    'x-stainless-timeout': '60',
    'cache-control': 'no-cache',
    cookie: 'session=1',
  };

  it('never reaches a model; everything else does', async () => {
    await start();
    const more = {
      service_tier: 'flex',
      user: 'user-2',
      metadata: { a: '1' },
      temperature: 0.2,
      future_field: { deep: [1, null] },
    };
    const reply = await client.send({
      body: ask('hi', more),
      headers: { ...FOR_THE_ROUTER, ...TRACE, 'x-provider-feature': 'on' },
    });
    expect([reply.status, reply.headers.get('x-spillway-priority')]).toEqual([200, 'low']);
    const [seen] = world.primary.requests;
    expect(JSON.parse(seen?.body ?? '')).toEqual({
      ...ask('hi', { ...more, service_tier: undefined }),
      model: 'real-primary',
    });
    for (const name of Object.keys(FOR_THE_ROUTER)) expect(seen?.headers).not.toHaveProperty(name);
    expect(seen?.headers).toMatchObject({
      ...TRACE,
      'x-provider-feature': 'on',
      authorization: 'Bearer UPSTREAM_KEY_1',
    });
    expect(seen?.url).toBe('/v1/chat/completions');
    expect(JSON.stringify(seen)).not.toContain('KEY_A');
  });
});

describe('row 3: a class of another kind than expected', () => {
  it.each([
    ['x-spillway-priority', { 'x-spillway-priority': '1' }, {}],
    ['x-spillway-priority', { 'x-spillway-priority': '{"class":"low"}' }, {}],
    ['service_tier', {}, { service_tier: 7 }],
    ['service_tier', {}, { service_tier: ['flex'] }],
  ])('is refused by its name: %s', async (param, headers: Record<string, string>, more) => {
    await start();
    const reply = await client.send({ body: ask('hi', more), headers });
    expect([reply.status, reply.body.error]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_request', param }),
    ]);
    expect(world.primary.requests).toHaveLength(0);
  });
});

it.each(['/v1', '/critical/v1', '/normal/v1', '/low/v1'])(
  'row 5: every default of the configuration serves %s',
  async path => {
    await start({ configuration: { keys: [] } });
    const reply = await client.send({ body: { ...ask('hi'), model: 'primary' }, path: `${path}/chat/completions` });
    expect([reply.status, reply.said]).toEqual([200, 'pong']);
    expect(reply.headers.get('x-spillway-priority')).toBe(path === '/v1' ? 'normal' : path.split('/')[1]);
  },
);

it('row 7: the wait is measured from the receipt of the call', async () => {
  await start({ model: ONE_AT_A_TIME });
  await occupy(250);
  const second = await send('second');
  const waited = Number(second.headers.get('x-spillway-queue-ms'));
  expect(waited).toBeGreaterThan(100);
  expect(waited).toBeLessThanOrEqual(second.took);
});

describe('rows 10 and 36: a model that asked to be left alone', () => {
  it('is, from the next call on, which waits for it as long as it may', async () => {
    await start();
    const busy = { ...refusal(429, 'rate_limit_exceeded'), headers: { 'retry-after-ms': '700' } };
    world.primary.script([busy, completion('pong')]);
    const refused = await send('first');
    expect([refused.status, refused.said]).toEqual([503, 'no_model_available']);
    const refusedAt = Date.now();
    const impatient = await send('impatient', { 'x-spillway-max-wait-ms': '100' });
    expect([impatient.status, impatient.said]).toEqual([504, 'queue_timeout']);
    expect(world.primary.requests).toHaveLength(1);
    const patient = await send('patient');
    expect([patient.status, patient.said, patient.headers.get('x-spillway-attempts')]).toEqual([200, 'pong', '1']);
    expect((world.primary.requests[1]?.at ?? 0) - refusedAt).toBeGreaterThan(600);
    expect(world.primary.requests).toHaveLength(2);
  });
});

describe('row 15: what kept a call from its answer is told apart', () => {
  it('429: too many wait already', async () => {
    await start({ model: ONE_AT_A_TIME, configuration: { priorities: { normal: { queue_limit: 1 } } } });
    await occupy(800);
    const waiting = send('waiting');
    await until(async () => (await client.metric('spillway_queue_depth')) === 1);
    const reply = await send('one too many');
    expect([reply.status, reply.said]).toEqual([429, 'queue_full']);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await waiting).status).toBe(200);
  });

  it('504: its time is over', async () => {
    await start({ model: ONE_AT_A_TIME });
    await occupy(2_000);
    const reply = await send('impatient', { 'x-spillway-max-wait-ms': '80' });
    expect([reply.status, reply.said]).toEqual([504, 'queue_timeout']);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(reply.took).toBeLessThan(1_900);
  });

  it('503, row 16: no model can take it', async () => {
    await start();
    world.primary.script([{ ...refusal(429, 'rate_limit_exceeded'), headers: { 'retry-after': '7' } }]);
    world.fallback.script([{ ...refusal(429, 'rate_limit_exceeded'), headers: { 'retry-after': '3' } }]);
    const reply = await client.send({ body: ask('hi') });
    expect([reply.status, reply.said, reply.headers.get('retry-after')]).toEqual([503, 'no_model_available', '3']);
  });
});

it('row 18: a caller that left and one whose time was over are counted apart', async () => {
  await start({ model: ONE_AT_A_TIME });
  await occupy(1_200);
  const leaving = new AbortController();
  const left = send('leaving', {}, leaving.signal).catch(() => null);
  await until(async () => (await client.metric('spillway_queue_depth')) === 1);
  leaving.abort();
  await left;
  await until(async () => (await client.metric('spillway_queue_depth')) === 0, 300);
  const expired = await send('expiring', { 'x-spillway-max-wait-ms': '50' });
  expect(expired.status).toBe(504);
  const count = (outcome: string): Promise<number> => client.metric('spillway_requests_total', { outcome });
  await until(async () => (await count('client-gone')) === 1);
  expect(await count('expired-in-queue')).toBe(1);
  expect(await client.metric('spillway_requests_total')).toBe(2);
  // Row 21: no gauge falls below nothing.
  expect((await client.get('/metrics')).raw).not.toMatch(/ -\d/);
});

describe('row 19: limits of time that make no sense', () => {
  it.each(['x-spillway-deadline-ms', 'x-spillway-max-wait-ms'])('are refused: %s', async name => {
    await start();
    for (const value of ['99999999999999999999', '-1', '1e9', 'NaN', '1.5', 'soon', '0x10', '600001000']) {
      const reply = await send('hi', { [name]: value });
      expect([value, reply.status, reply.body.error?.param]).toEqual([value, 400, name]);
    }
    expect(world.primary.requests).toHaveLength(0);
  });

  it('are ignored where the client’s library sent them', async () => {
    await start();
    for (const value of ['99999999999999999999', '-1', 'NaN', 'Infinity', '']) {
      expect([value, (await send('hi', { 'x-stainless-timeout': value })).status]).toEqual([value, 200]);
    }
  });
});
