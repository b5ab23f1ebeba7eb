import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, until, type Reply } from '../support/api-client';
import { completion, events, refusal, stream, text } from '../support/model-answers';
import { ask, startWorld, worldConfiguration, type World, type WorldOptions } from '../support/world';

const redisUrl = process.env['SPILLWAY_TEST_REDIS_URL'] ?? '';
/** A model that is asked however often it fails. */
const NEVER_TIRED = {
  breaker: { min_requests: 1_000_000, consecutive_failures: 1_000_000 },
  climb: { mode: 'off' },
  adaptive_inflight: false,
};
let worlds = 0;

describe.each(['memory', 'Redis'])('limits of callers, in %s', kind => {
  let world: World;
  let client: ApiClient;

  const start = async (limits: object, { configuration, ...more }: WorldOptions = {}): Promise<void> => {
    world = await startWorld({
      ...more,
      configuration: {
        redis: { prefix: `cases-limits-${process.pid}-${worlds++}` },
        keys: [
          { name: 'a', key: 'KEY_A', limits },
          { name: 'b', key: 'KEY_B' },
        ],
        ...configuration,
      },
      env: kind === 'Redis' ? { REDIS_URL: redisUrl } : {},
    });
    ({ client } = world);
  };
  afterEach(() => world.stop());

  const send = (content: string, more: object = {}, by = client): Promise<Reply> =>
    by.send({ body: ask(content, { model: 'alone', ...more }) });
  const many = (count: number, one: (index: number) => Promise<Reply>): Promise<readonly Reply[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  const statuses = (replies: readonly Reply[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  const limitsIn = ({ headers }: Reply): (string | null)[] =>
    ['requests', 'tokens'].flatMap(what => [
      headers.get(`x-ratelimit-limit-${what}`),
      headers.get(`x-ratelimit-remaining-${what}`),
    ]);
  const left = ({ headers }: Reply, what: 'requests' | 'tokens'): number =>
    Number(headers.get(`x-ratelimit-remaining-${what}`));

  it('E20 admit exactly as many requests of a key as they say, whatever else a caller changes', async () => {
    await start({ rpm: 30 });
    world.primary.script([completion('pong')]);
    const replies = await many(100, index =>
      client.send({
        body: ask(`call ${index}`, { model: 'alone', user: `u${index}` }),
        headers: { 'x-forwarded-for': `10.0.0.${index}`, 'user-agent': `agent ${index}` },
      }),
    );
    expect(statuses(replies)).toEqual({ 200: 30, 429: 70 });
    expect(world.primary.requests).toHaveLength(30);
    expect(await client.metric('ratelimit_requests_rejected_total', { policy: 'key-requests' })).toBe(70);
    expect(await client.metric('spillway_requests_total', { outcome: 'rejected-limit' })).toBe(70);
    expect((await send('of another key', {}, client.as('KEY_B'))).status).toBe(200);
  });

  it('say in headers what is left, and on a refusal whose limit it is and when to come back', async () => {
    await start({ rpm: 2, tpm: 10_000 });
    world.primary.script([completion('pong'), stream('pong')]);
    const first = await send('one', { max_tokens: 100 });
    expect(limitsIn(first).slice(0, 2)).toEqual(['2', '1']);
    expect(first.headers.get('x-ratelimit-limit-tokens')).toBe('10000');
    expect(first.headers.get('x-ratelimit-reset-requests')).toMatch(/^1m0s$|^\d\ds$/);
    const second = await client.stream({ body: ask('two', { model: 'alone' }) });
    expect(left(second, 'requests')).toBe(0);

    const refused = await send('three');
    expect(refused.status).toBe(429);
    expect(refused.body.error).toEqual({
      message: 'The limit of this API key is reached (requests a minute: 2).',
      type: 'rate_limit_error',
      param: null,
      code: 'rate_limit_exceeded',
    });
    expect(limitsIn(refused).slice(0, 2)).toEqual(['2', '0']);
    const waitS = Number(refused.headers.get('retry-after'));
    expect(waitS).toBeGreaterThan(50);
    expect(waitS).toBeLessThanOrEqual(60);
    expect(Number(refused.headers.get('retry-after-ms'))).toBeLessThanOrEqual(waitS * 1000);
    expect(refused.headers.get('x-spillway-outcome')).toBe('rejected-limit');
    expect(refused.headers.get('x-should-retry')).toBe('true');

    const free = await send('of a key without limits', {}, client.as('KEY_B'));
    expect(limitsIn(free)).toEqual([null, null, null, null]);
  });

  it('E03 reserve tokens before a call, and correct them after it', async () => {
    await start({ tpm: 200 });
    const usage = { prompt_tokens: 10, completion_tokens: 150, total_tokens: 160 };
    world.primary.script([{ ...completion('x', { usage }), ttfb_ms: 600 }, refusal(400, 'bad'), completion('small')]);
    const replies = await many(5, index => send(`write much ${index}`, { max_tokens: 150 }));
    expect(statuses(replies)).toEqual({ 200: 1, 429: 4 });
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body.error?.message).toBe('The limit of this API key is reached (tokens a minute: 200).');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(await client.metric('ratelimit_requests_rejected_total', { policy: 'key-tokens' })).toBe(4);

    expect((await send('refused by the model', { max_tokens: 5 })).status).toBe(400);
    const after = await send('small', { max_tokens: 10 });
    expect(after.status).toBe(200);
    expect(left(after, 'tokens')).toBeGreaterThan(0);
    expect(left(after, 'tokens')).toBeLessThan(40);
  });

  it('E01 give back the slot of every call, however it ended', async () => {
    const inflight = 10;
    const model = { timeout_ms: 800, first_token_timeout_ms: 800, ...NEVER_TIRED };
    await start({ inflight }, { model });
    const tenTimes = (one: (index: number) => Promise<unknown>): Promise<unknown> =>
      Promise.allSettled(Array.from({ length: inflight }, (_, index) => one(index)));

    world.primary.script([{ no_response: 'hang' }]);
    await tenTimes(index => send(`t-out ${index}`));
    world.primary.script([events([text('x')], { end: 'hang' })]);
    await tenTimes(index =>
      client.stream({ body: ask(`ab ${index}`, { model: 'alone' }), signal: AbortSignal.timeout(100) }),
    );
    world.primary.script([{ no_response: 'hang' }]);
    await tenTimes(index =>
      client.send({ body: ask(`gone ${index}`, { model: 'alone' }), signal: AbortSignal.timeout(50) }),
    );
    world.primary.script([{ no_response: 'reset' }]);
    await tenTimes(index => send(`rst ${index}`));
    world.primary.script([events([text('x')], { end: 'reset' })]);
    await tenTimes(index => client.stream({ body: ask(`cut ${index}`, { model: 'alone' }) }));
    world.primary.script([refusal(500)]);
    await tenTimes(index => send(`500 ${index}`));
    await tenTimes(index => client.send({ body: ask(`none ${index}`, { model: 'unknown' }) }));

    world.primary.script([{ ...completion('pong'), ttfb_ms: 400 }]);
    await until(async () => (await send('are the slots of those that left back?')).status === 200);
    expect(statuses(await many(inflight + 5, index => send(`fine ${index}`)))).toEqual({ 200: inflight, 429: 5 });
    expect(statuses(await many(inflight, index => send(`again ${index}`)))).toEqual({ 200: inflight });
    expect(await client.metric('ratelimit_requests_rejected_total', { policy: 'key-inflight' })).toBeGreaterThan(4);
    await until(async () => (await client.metric('spillway_model_inflight')) === 0);
    expect((await client.get('/metrics')).raw).not.toMatch(/ -\d/);
  });

  it('hold the slot of a stream until it ends', async () => {
    await start({ inflight: 1 });
    world.primary.script([events([text('a'), { sleep: 600 }, ...(stream('b').sse ?? [])])]);
    const seen: string[] = [];
    const streaming = client.stream({ body: ask('long', { model: 'alone' }) }, data => seen.push(data));
    await until(() => seen.length > 0);
    const refused = await send('meanwhile');
    expect(refused.body.error?.message).toBe('The limit of this API key is reached (calls at the same time: 1).');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await streaming).said).toBe('ab');
    world.primary.script([completion('pong')]);
    await until(async () => (await send('afterwards')).status === 200);
  });

  it('are kept for each end user of each key', async () => {
    await start({ rpm: 100 }, { configuration: { users: { rpm: 2 } } });
    world.primary.script([completion('pong')]);
    const by = (user: string, key = 'KEY_A'): Promise<Reply> => send(`${user} asks`, { user }, client.as(key));
    const replies = [];
    for (let call = 0; call < 3; call++) replies.push(await by('ann@example.org'));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(replies.map(limitsIn).map(([most, rest]) => [most, rest])).toEqual([
      ['2', '1'],
      ['2', '0'],
      ['2', '0'],
    ]);
    expect(replies[2]?.body.error?.message).toBe('The limit of this end user is reached (requests a minute: 2).');
    expect((await by('bob@example.org')).status).toBe(200);
    expect((await by('ann@example.org', 'KEY_B')).status).toBe(200);
    const named = await client.send({
      body: ask('x', { model: 'alone' }),
      headers: { 'x-spillway-user': 'ann@example.org' },
    });
    expect(named.status).toBe(429);
    const unnamed = await send('nobody in particular');
    expect(limitsIn(unnamed).slice(0, 2)).toEqual(['100', '96']);
    expect(await client.metric('ratelimit_requests_rejected_total', { policy: 'user-requests' })).toBe(2);
    expect((await client.get('/metrics')).raw).not.toContain('example.org');
    expect(JSON.stringify(world.gateway.log.lines)).not.toContain('ann@example.org');
  });

  it('D20 count a cached answer as a call that used nothing', async () => {
    await start({ rpm: 4, tpm: 1000, inflight: 1 }, { cache: true });
    const usage = { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 };
    world.primary.script([completion('pong', { usage })]);
    const body = { temperature: 0, max_tokens: 10 };
    const replies: Reply[] = [];
    for (let call = 0; call < 5; call++) {
      replies.push(await send('hit', body));
      await sleep(20);
    }
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    expect(replies.map(({ headers }) => headers.get('x-spillway-cache')).slice(0, 4)).toEqual([
      'MISS',
      'HIT',
      'HIT',
      'HIT',
    ]);
    expect(world.primary.requests).toHaveLength(1);
    const refused = replies[4];
    expect(refused && left(refused, 'tokens')).toBe(940);
  });

  it('PEERS 85 take nothing for a call that Spillway itself refuses', async () => {
    await start(
      { rpm: 5, tpm: 1000 },
      {
        model: { limits: { inflight: 1 }, headroom: 0 },
        configuration: {
          priorities: { normal: { queue_limit: 0 }, low: { max_wait_ms: 50 } },
        },
      },
    );
    world.primary.script([{ ...completion('slow'), ttfb_ms: 1_000 }, completion('pong')]);
    const slow = send('slow', { max_tokens: 20 });
    await until(() => world.primary.requests.length === 1);
    for (let call = 0; call < 10; call++) {
      expect((await send(`full ${call}`, { max_tokens: 900 })).said).toBe('queue_full');
      // What is given back first may find its script unknown to Redis, and be overtaken.
      if (call === 0) await sleep(50);
    }
    const low = { path: '/low/v1/chat/completions', body: ask('late', { model: 'alone', max_tokens: 900 }) };
    expect((await client.send(low)).said).toBe('queue_timeout');
    await client.send({ ...low, signal: AbortSignal.timeout(20) }).catch(() => undefined);
    expect((await client.send({ body: ask('no such model', { model: 'unknown' }) })).status).toBe(404);
    expect((await slow).status).toBe(200);
    await until(async () => (await client.metric('spillway_model_inflight')) === 0);
    const next = await send('next', { max_tokens: 20 });
    expect(left(next, 'requests')).toBe(3);
    expect(left(next, 'tokens')).toBeGreaterThan(900);
  });

  it('count no call that ended with the fallback response before a model was asked', async () => {
    const fallback_response = { normal: 'Please try again.' };
    await start(
      { rpm: 3 },
      {
        model: { limits: { inflight: 1 }, headroom: 0 },
        route: { fallback_response },
        configuration: { priorities: { normal: { queue_limit: 0 } } },
      },
    );
    world.primary.script([{ ...completion('slow'), ttfb_ms: 700 }, completion('pong')]);
    const slow = send('slow');
    await until(() => world.primary.requests.length === 1);
    for (let call = 0; call < 4; call++) expect((await send(`full ${call}`)).said).toBe('Please try again.');
    await slow;
    const [second, third, fourth] = [await send('2'), await send('3'), await send('4')];
    expect([second, third, fourth].map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(fourth.said).toBe('rate_limit_exceeded');
  });

  it('PEERS 88 keep the estimate of a call whose use no model reported', async () => {
    await start({ tpm: 500 });
    world.primary.script([completion('pong', { usage: undefined })]);
    await send('one', { max_tokens: 100 });
    const next = await send('two', { max_tokens: 100 });
    expect(left(next, 'tokens')).toBeLessThan(500 - 200);
  });

  it('PEERS 80 keep it as well of a stream whose caller leaves: nobody knows what the model had written', async () => {
    await start({ tpm: 1_000 });
    world.primary.script([events([text('x')], { end: 'hang' }), completion('pong')]);
    const leaving = new AbortController();
    const body = ask('write much', { model: 'alone', max_tokens: 400 });
    const reading = client.stream({ body, signal: leaving.signal }, () => leaving.abort());
    await expect(reading).rejects.toThrow(/abort/i);
    await until(async () => (await client.metric('spillway_model_inflight')) === 0);
    const next = await send('and then', { max_tokens: 10 });
    expect([next.status, left(next, 'tokens') < 600, left(next, 'tokens') > 500]).toEqual([200, true, true]);
  });

  it('change with the configuration at once', async () => {
    await start({ rpm: 1 });
    world.primary.script([completion('pong')]);
    await send('one');
    expect((await send('two')).status).toBe(429);
    const reconfigure = (limits: object): void => {
      const urls = { primary: world.primary.url, fallback: world.fallback.url };
      const configuration = { redis: { prefix: 'other' }, keys: [{ name: 'a', key: 'KEY_A', limits }] };
      world.gateway.reconfigure(worldConfiguration(urls, { configuration }));
    };
    reconfigure({ rpm: 3 });
    expect(limitsIn(await send('two')).slice(0, 2)).toEqual(['3', '1']);
    reconfigure({});
    expect(limitsIn(await send('three'))).toEqual([null, null, null, null]);
    reconfigure({ rpm: 2 });
    expect((await send('four')).status).toBe(429);
  });
});
