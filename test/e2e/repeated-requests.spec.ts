import { ExactCacheStage } from '@spillway/cache';
import { ApiClient, type Reply } from '../support/api-client';
import { completion } from '../support/model-answers';
import { ask, startWorld, worldConfiguration, type World } from '../support/world';

/** Calls that walk the path pass this stage, those of the lane do not. */
const walked = jest.spyOn(ExactCacheStage.prototype, 'handle');
const configuration = {
  keys: [
    { name: 'a', key: 'KEY_A', max_priority: 'normal' },
    { name: 'b', key: 'KEY_B' },
    { name: 'limited', key: 'KEY_L', limits: { rpm: 1_000 } },
  ],
  classify: [{ when: { header: { 'x-feature': 'chat' } }, priority: 'low' }],
};

let world: World;
let client: ApiClient;

beforeAll(async () => {
  world = await startWorld({ cache: true, configuration });
  ({ client } = world);
  world.primary.script(({ body }) => completion(`on ${body.length}: “${body.slice(-60, -40)}”`));
});
afterAll(() => world.stop());
beforeEach(() => walked.mockClear());

type Asking = Parameters<ApiClient['send']>[0];

/** How a call was answered, and by whom. */
interface Seen {
  readonly reply: Reply;
  readonly log: Readonly<Record<string, unknown>>;
  readonly walked: boolean;
}

async function see(asking: Asking, by: ApiClient = client): Promise<Seen> {
  const before = walked.mock.calls.length;
  const reply = await by.send(asking);
  const log = world.gateway.log.ofCall(reply.headers.get('x-request-id') ?? '');
  return { reply, log: log ?? {}, walked: walked.mock.calls.length > before };
}

/** Asks until the lane knows it: the answer is made, then found by the path, then repeated. */
async function thrice(asking: Asking, by?: ApiClient): Promise<readonly [Seen, Seen, Seen]> {
  return [await see(asking, by), await see(asking, by), await see(asking, by)];
}

const OF_ONE_REPLY = ['x-request-id', 'date', 'age'];
const OF_ONE_LINE = ['request_id', 'trace_id', 'duration_ms'];

function without(fields: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

function lasting({ reply, log }: Seen): object {
  return {
    status: reply.status,
    headers: without(Object.fromEntries(reply.headers), OF_ONE_REPLY),
    body: reply.raw.replace(/"id":"chatcmpl-[\da-f-]{36}","created":\d{10}/, ''),
    log: without(log, OF_ONE_LINE),
  };
}

/** The same sequence for every run, so that a failure can be looked at again. */
function chooser(seed: number): <Value>(...values: readonly [Value, ...Value[]]) => Value {
  let state = seed;
  return (...values) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return values[(state >>> 8) % values.length] ?? values[0];
  };
}

function randomAsking(seed: number): Asking {
  const choose = chooser(seed);
  const headers = {
    ...choose<object>({}, {}, { 'x-spillway-priority': 'critical' }, { 'x-spillway-priority': 'low' }),
    ...choose<object>({}, { 'x-spillway-scope': 'shop-1' }, { 'x-feature': 'chat' }),
    ...choose<object>({}, { 'x-spillway-cache': 'exact' }, { 'x-spillway-cache-ttl': '60' }),
    ...choose<object>({}, { 'x-request-id': `mine-${seed}` }, { 'x-request-id': 'not safe!' }),
    ...choose<object>({}, { 'user-agent': 'tool/1', 'x-unknown': 'é' }, { 'cache-control': 'max-age=0' }),
  };
  const body = ask(choose('Hello?', '你好，世界', `"quoted" \\ \u2028 ${seed}`, 'a'.repeat(3_000)), {
    ...choose<object>({}, { temperature: 0 }, { user: 'u-1' }, { service_tier: 'flex' }),
    model: choose('m-primary', 'alone', 'primary'),
  });
  const path = choose('/v1', '/critical/v1', '/low/v1') + '/chat/completions';
  return { body: choose(JSON.stringify(body), JSON.stringify(body, null, 2)), headers, path };
}

describe('a request that is the same to the byte', () => {
  it('is answered before the path, and nobody can tell', async () => {
    const repeated: boolean[] = [];
    for (let seed = 1; seed <= 60; seed++) {
      const [, path, lane] = await thrice(randomAsking(seed));
      expect(lane.reply.headers.get('x-spillway-outcome')).toBe('cache-exact');
      expect(lasting(lane)).toEqual(lasting(path));
      repeated.push(!lane.walked);
    }
    expect(repeated).not.toContain(false);
  });

  it('has an id, a time and a request id of its own', async () => {
    const [, path, lane] = await thrice({ body: ask('ids') });
    expect(lane.walked).toBe(false);
    expect(lane.reply.body.id).toMatch(/^chatcmpl-/);
    expect(lane.reply.body.id).not.toBe(path.reply.body.id);
    expect(Math.abs((lane.reply.body.created ?? 0) - Date.now() / 1000)).toBeLessThan(60);
    expect(lane.reply.headers.get('x-request-id')).not.toBe(path.reply.headers.get('x-request-id'));
    const kept = await see({ body: ask('ids'), headers: { 'x-request-id': 'mine' } });
    expect([kept.walked, kept.reply.headers.get('x-request-id')]).toEqual([false, 'mine']);
    const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
    const traced = await see({ body: ask('ids'), headers: { traceparent } });
    expect([traced.walked, traced.log['trace_id']]).toEqual([false, '1'.repeat(32)]);
  });

  it('is counted as any other', async () => {
    const counted = async (): Promise<number[]> =>
      Promise.all([
        client.metric('spillway_requests_total', { outcome: 'cache-exact', priority: 'normal' }),
        client.metric('spillway_request_duration_seconds_count', { outcome: 'cache-exact' }),
        client.metric('spillway_cache_lookups_total', { level: 'exact', result: 'hit' }),
        client.metric('spillway_tokens_saved_total', { direction: 'output' }),
      ]);
    const asking = { body: ask('counted') };
    await see(asking);
    const counts: number[][] = [];
    for (const expected of [true, false]) {
      const before = await counted();
      expect((await see(asking)).walked).toBe(expected);
      const after = await counted();
      counts.push(after.map((value, index) => value - (before[index] ?? 0)));
    }
    expect(counts[0]?.slice(0, 3)).toEqual([1, 1, 1]);
    expect(counts[1]).toEqual(counts[0]);
  });

  it('has the headers that the browser of an allowed page needs, each once', async () => {
    const open = await startWorld({ cache: true, configuration: { ...configuration, server: { cors: true } } });
    open.primary.script(() => completion('pong'));
    const before = walked.mock.calls.length;
    const replies: Reply[] = [];
    for (const origin of ['https://one.example', 'https://other.example']) {
      const asking = { body: ask('from a page'), headers: { origin } };
      for (let times = 0; times < 3; times++) replies.push(await open.client.send(asking));
    }
    await open.stop();
    expect(walked.mock.calls.length - before).toBe(3);
    const forBrowsers = replies.map(({ headers }) => [...headers].filter(([name]) => /^access-|^vary$/.test(name)));
    expect(forBrowsers[0]).toContainEqual(['access-control-allow-origin', 'https://one.example']);
    expect(forBrowsers[3]).toContainEqual(['access-control-allow-origin', 'https://other.example']);
    expect([forBrowsers[2], forBrowsers[5]]).toEqual([forBrowsers[0], forBrowsers[3]]);
    const ids = replies.map(({ headers }) => headers.get('x-request-id'));
    expect(ids.filter((id, index) => ids.indexOf(id) === index && !id?.includes(','))).toHaveLength(6);
  });

  it('is explained as any other', async () => {
    const [, path, lane] = await thrice({ body: ask('explained') });
    const explained = async ({ reply }: Seen): Promise<Record<string, unknown>> => {
      const { raw } = await client.request('GET', `/admin/explain/${reply.headers.get('x-request-id')}`);
      return JSON.parse(raw) as Record<string, unknown>;
    };
    const [ofPath, ofLane] = [await explained(path), await explained(lane)];
    expect([path.walked, lane.walked]).toEqual([true, false]);
    const { requestId, traceId, receivedAt, durationMs, cache, ...others } = ofLane;
    expect(ofPath).toMatchObject(others);
    expect(cache).toEqual({ status: 'HIT', tier: 'exact', ageS: expect.any(Number) as number });
    expect(requestId).toBe(lane.reply.headers.get('x-request-id'));
    expect(traceId).toBe(lane.log['trace_id']);
    expect(Date.parse(String(receivedAt))).toBeGreaterThanOrEqual(Date.parse(String(ofPath['receivedAt'])));
    expect(durationMs).toBeGreaterThanOrEqual(0);
  });
});

describe('a request is walked', () => {
  it('when a header, a letter of the body, the address or the caller differs', async () => {
    const body = ask('nearly the same');
    expect((await thrice({ body }))[2].walked).toBe(false);
    const others: [Asking, string][] = [
      [{ body, headers: { 'x-any': '1' } }, 'KEY_A'],
      [{ body: JSON.stringify(body, null, 1) }, 'KEY_A'],
      [{ body, path: '/v1/chat/completions?again' }, 'KEY_A'],
      [{ body, path: '/low/v1/chat/completions' }, 'KEY_A'],
      [{ body, headers: { 'cache-control': 'no-cache' } }, 'KEY_A'],
      [{ body }, 'KEY_B'],
    ];
    for (const [asking, key] of others) expect((await see(asking, client.as(key))).walked).toBe(true);
    expect((await see({ body }, client.as('WRONG'))).reply.status).toBe(401);
  });

  it('when its caller has limits, so that each call counts', async () => {
    const limited = client.as('KEY_L');
    const [, second, third] = await thrice({ body: ask('limited') }, limited);
    expect([second.walked, third.walked]).toEqual([true, true]);
    const left = [second, third].map(({ reply }) => Number(reply.headers.get('x-ratelimit-remaining-requests')));
    expect(left[1]).toBe((left[0] ?? 0) - 1);
  });

  it('when it asks for a stream', async () => {
    const streams = async (): Promise<string> => (await client.stream({ body: ask('streamed') })).said;
    const first = await streams();
    for (let again = 0; again < 3; again++) expect(await streams()).toBe(first);
    expect(walked).toHaveBeenCalledTimes(4);
  });

  it('after the cache was cleared, and is answered anew', async () => {
    const asking = { body: ask('cleared') };
    expect((await thrice(asking))[2].walked).toBe(false);
    await client.request('DELETE', '/admin/cache');
    const after = await see(asking);
    expect([after.walked, after.reply.headers.get('x-spillway-outcome')]).toEqual([true, 'generated']);
  });

  it('when another answer is kept by now, with the facts of that', async () => {
    const asking = { body: ask('kept anew') };
    const [, , lane] = await thrice(asking);
    world.primary.script([completion('another answer')]);
    await see({ ...asking, headers: { 'cache-control': 'no-cache' } });
    const [first, second] = [await see(asking), await see(asking)];
    expect([lane.walked, first.walked, second.walked]).toEqual([false, true, false]);
    expect(lasting(second)).toEqual(lasting(first));
    expect(second.log['response_snippet']).toBe('another answer');
  });

  it('when its answer has expired', async () => {
    const asking = { body: ask('soon old'), headers: { 'x-spillway-cache-ttl': '1' } };
    await thrice(asking);
    await new Promise(resolve => setTimeout(resolve, 1_100));
    expect((await see(asking)).reply.headers.get('x-spillway-outcome')).toBe('generated');
  });

  it('after other settings came into force', async () => {
    const asking = { body: ask('reloaded'), headers: { 'x-feature': 'chat' } };
    const [, , lane] = await thrice(asking);
    expect([lane.walked, lane.reply.headers.get('x-spillway-priority')]).toEqual([false, 'low']);
    const urls = { primary: world.primary.url, fallback: world.fallback.url };
    world.gateway.reconfigure(
      worldConfiguration(urls, { cache: true, configuration: { ...configuration, classify: [] } }),
    );
    const after = await see(asking);
    expect([after.walked, after.reply.headers.get('x-spillway-priority')]).toEqual([true, 'normal']);
    world.gateway.reconfigure(worldConfiguration(urls, { cache: true, configuration }));
  });
});
