import { setTimeout as sleep } from 'node:timers/promises';
import { until, type Reply } from '../support/api-client';
import { operate } from '../support/health';
import { chunk, completion, events, refusal, stream } from '../support/model-answers';
import type { Step } from '../support/upstream-step';
import { ask, startWorld, type World, type WorldOptions } from '../support/world';

/** From here on a second model is asked, as the quick calls before made the usual time shorter. */
const AFTER_MS = 250;
/** Far longer than anything here takes. */
const SLOW: Step = { ttfb_ms: 20_000, ...completion('slow') };
const CRITICAL = '/critical/v1/chat/completions';
const RPM = 1_000;

type ModelName = 'primary' | 'fallback' | 'third';

describe('a second model for a CRITICAL call', () => {
  let world: World;

  afterEach(() => world.stop());

  const start = async ({ hedge = {}, ...options }: WorldOptions & { readonly hedge?: object } = {}): Promise<void> => {
    const limits = { rpm: RPM, inflight: 50 };
    world = await startWorld({
      configuration: {
        redis: { prefix: `hedging-${process.pid}` },
        models: {
          primary: { provider: 'primary', upstream_model: 'real-primary', limits, headroom: 0 },
          fallback: { provider: 'fallback', upstream_model: 'real-fallback', limits, headroom: 0 },
          third: { provider: 'fallback', upstream_model: 'real-third', limits, headroom: 0 },
        },
        routes: {
          plain: { chain: ['primary', 'fallback'], cache: { exact: false, semantic: false } },
          'm-primary': {
            chain: ['primary', 'fallback', 'third'],
            cache: { exact: false, semantic: false },
            hedge: { max_share: 1, after_ms: AFTER_MS, ...hedge },
          },
        },
      },
      ...options,
    });
  };
  const question = (more: object = {}): object => ask('how are you?', { max_tokens: 2, ...more });
  const send = (more: object = {}, path = CRITICAL, signal?: AbortSignal): Promise<Reply> =>
    world.client.send({ body: question(more), path, signal });
  const streamed = (path = CRITICAL) => world.client.stream({ body: question(), path });

  /** Makes known what is usual: the estimates of such calls first, then how long these take. */
  const warm = async (call: () => Promise<Reply> = send, step = completion('first')): Promise<void> => {
    world.primary.script(() => step);
    world.fallback.script(() => completion('second'));
    // The very first calls take longer than any after them.
    for (let calls = 0; calls < 3; calls++) await send({}, '/v1/chat/completions');
    for (let calls = 0; calls < 40; calls++) expect((await call()).status).toBe(200);
    world.primary.script(() => step);
  };
  /** Of the second provider, which has two models. */
  const behind = (second: Step, third: Step): void => {
    world.fallback.script(({ body }) => (body.includes('real-third') ? third : second));
  };
  const counted = (outcome: string): Promise<number> => world.client.metric('spillway_hedges_total', { outcome });
  const statuses = async (): Promise<Record<ModelName, { inflight: number; limits: object[] }>> => {
    const { raw } = await world.client.get('/admin/status');
    return (JSON.parse(raw) as { models: Record<ModelName, { inflight: number; limits: object[] }> }).models;
  };
  const underWay = async (): Promise<readonly number[]> =>
    Object.values(await statuses()).map(({ inflight }) => inflight);
  const left = (model: ModelName): Promise<number> =>
    world.client.metric('ratelimit_remaining', { model, limit: 'rpm' });
  const decisions = async (reply: Reply, kind: string): Promise<readonly object[]> => {
    const id = reply.headers.get('x-request-id') ?? '';
    const { raw } = await world.client.get(`/admin/explain/${id}`);
    return (JSON.parse(raw) as { decisions: { kind: string }[] }).decisions.filter(one => one.kind === kind);
  };
  const seenOf = ({ headers }: Reply) => ({
    model: headers.get('x-spillway-model'),
    attempts: headers.get('x-spillway-attempts'),
    degraded: headers.get('x-spillway-degraded'),
  });
  const logged = ({ headers }: Reply) => world.gateway.log.ofCall(headers.get('x-request-id') ?? '');

  describe.each(['in memory', 'through Redis'] as const)('with limits kept %s', where => {
    it('answers when the first takes longer than usual, which is then given up; both are counted and given back', async () => {
      await start({ env: where === 'in memory' ? {} : { REDIS_URL: process.env['SPILLWAY_TEST_REDIS_URL'] ?? '' } });
      await warm();
      await until(async () => (await underWay()).every(calls => calls === 0));
      const before = [await left('primary'), await left('fallback')];
      world.primary.script(() => SLOW);
      world.fallback.script(() => ({ ttfb_ms: 300, ...completion('second') }));
      const asked = send();
      await until(() => world.fallback.requests.length === 1);
      expect(await underWay()).toEqual([1, 1, 0]);
      const reply = await asked;
      expect([reply.said, seenOf(reply)]).toEqual([
        'second',
        { model: 'fallback', attempts: '2', degraded: 'fallback-model' },
      ]);
      const [first] = world.primary.requests;
      await until(() => first?.closed_at !== null);
      expect(first?.finished).toBe(false);
      await until(async () => (await underWay()).every(calls => calls === 0));
      expect([await left('primary'), await left('fallback')]).toEqual(before.map(calls => calls - 1));
      expect(await counted('won')).toBe(1);
      expect(await world.client.metric('ai_request_total', { model: 'primary', status: 'outrun' })).toBe(1);
      expect(logged(reply)).toMatchObject({ hedge: 'won', model: 'fallback', attempts: 2, tokens: { input: 5 } });
      const [hedge] = await decisions(reply, 'hedge');
      expect(hedge).toEqual({ kind: 'hedge', model: 'fallback', afterMs: expect.any(Number) as number });
      expect(await decisions(reply, 'attempt')).toMatchObject([
        { model: 'primary', status: 'outrun' },
        { model: 'fallback', status: '200' },
      ]);
    });
  });

  it('is not asked when the first answers in its usual time', async () => {
    await start();
    await warm();
    world.primary.script(() => ({ ttfb_ms: AFTER_MS / 3, ...completion('first') }));
    const reply = await send();
    expect([reply.said, seenOf(reply)]).toEqual(['first', { model: 'primary', attempts: '1', degraded: null }]);
    await sleep(AFTER_MS);
    expect(world.fallback.requests).toHaveLength(0);
    expect(logged(reply)).toMatchObject({ hedge: null });
  });

  it('is given up when the first answers after all', async () => {
    await start();
    await warm();
    world.primary.script(() => ({ ttfb_ms: 3 * AFTER_MS, ...completion('first') }));
    behind(SLOW, SLOW);
    const reply = await send();
    expect([reply.said, seenOf(reply)]).toEqual(['first', { model: 'primary', attempts: '2', degraded: null }]);
    const [second] = world.fallback.requests;
    await until(() => second?.closed_at !== null);
    expect(second?.finished).toBe(false);
    await until(async () => (await underWay()).every(calls => calls === 0));
    expect(logged(reply)).toMatchObject({ hedge: 'lost', tokens: { input: 5, output: 2 } });
  });

  it('leaves the rest of the chain to the walk when both fail', async () => {
    await start();
    await warm();
    world.primary.script(() => ({ ttfb_ms: 3 * AFTER_MS, ...refusal(500) }));
    behind({ ttfb_ms: AFTER_MS, ...refusal(503) }, completion('third'));
    const reply = await send();
    expect([reply.said, seenOf(reply)]).toEqual([
      'third',
      { model: 'third', attempts: '3', degraded: 'fallback-model' },
    ]);
    expect(await decisions(reply, 'attempt')).toMatchObject([
      { model: 'fallback', status: '503' },
      { model: 'primary', status: '500' },
      { model: 'third', status: '200' },
    ]);
    expect(logged(reply)).toMatchObject({ hedge: 'failed' });
    await until(async () => (await underWay()).every(calls => calls === 0));
  });

  it('may fail without harm while the first is still at it', async () => {
    await start();
    await warm();
    world.primary.script(() => ({ ttfb_ms: 3 * AFTER_MS, ...completion('first') }));
    behind(refusal(404, 'model_not_found'), completion('third'));
    const reply = await send();
    expect([reply.said, seenOf(reply)]).toEqual(['first', { model: 'primary', attempts: '2', degraded: null }]);
  });

  it('is given up when the first refuses the request itself', async () => {
    await start();
    await warm();
    world.primary.script(() => ({ ttfb_ms: 2 * AFTER_MS, ...refusal(400) }));
    behind(SLOW, completion('third'));
    const reply = await send();
    expect([reply.status, seenOf(reply).attempts]).toEqual([400, '2']);
    expect(logged(reply)).toMatchObject({ hedge: 'failed', tokens: { input: 0, output: 0 } });
    await until(() => world.fallback.requests[0]?.closed_at !== null);
    await until(async () => (await underWay()).every(calls => calls === 0));
  });

  it('answers a stream whose first content does not come; never a word of both', async () => {
    await start();
    const quick = stream('first');
    await warm(streamed, quick);
    // A role is no content: nothing has been shown yet.
    world.primary.script(() => events([chunk({ role: 'assistant' }), { sleep: 20_000 }, chunk({ content: 'first' })]));
    behind(stream('sec', 'ond'), SLOW);
    const reply = await streamed();
    expect([reply.said, seenOf(reply)]).toEqual([
      'second',
      { model: 'fallback', attempts: '2', degraded: 'fallback-model' },
    ]);
    await until(() => world.primary.requests[0]?.closed_at !== null);
    await until(async () => (await underWay()).every(calls => calls === 0));
    expect(await counted('won')).toBe(1);
  });

  it('is not asked once a stream has begun, however slowly it goes on', async () => {
    await start();
    await warm(streamed, stream('first'));
    world.primary.script(() => ({ ...stream('fi', 'rs', 't'), gap_ms: AFTER_MS }));
    const reply = await streamed();
    expect([reply.said, seenOf(reply).attempts]).toEqual(['first', '1']);
    expect(world.fallback.requests).toHaveLength(0);
  });

  it.each([
    ['NORMAL', '/v1/chat/completions', {}],
    ['LOW', '/low/v1/chat/completions', {}],
    ['a route that does not want it', CRITICAL, { model: 'plain' }],
  ])('is never asked for %s', async (_, path, more) => {
    await start();
    await warm(() => send(more, path));
    world.primary.script(() => ({ ttfb_ms: 4 * AFTER_MS, ...completion('first') }));
    const reply = await send(more, path);
    expect([reply.said, seenOf(reply).attempts]).toEqual(['first', '1']);
    expect(world.fallback.requests).toHaveLength(0);
  });

  it('is not asked before it is known what is usual', async () => {
    await start();
    world.primary.script(() => ({ ttfb_ms: 4 * AFTER_MS, ...completion('first') }));
    expect(seenOf(await send()).attempts).toBe('1');
  });

  it('is asked for a share of the calls only, though all are slow: five at once after many quick ones', async () => {
    await start({ hedge: { max_share: 0.1 } });
    await warm();
    world.primary.script(() => ({ ttfb_ms: 6 * AFTER_MS, ...completion('first') }));
    world.fallback.script(() => completion('second'));
    const replies = await Promise.all(Array.from({ length: 20 }, () => send()));
    expect(replies.filter(({ said }) => said === 'second')).toHaveLength(5);
    expect(world.fallback.requests).toHaveLength(5);
    expect([await counted('won'), await counted('over-share')]).toEqual([5, 15]);
  });

  it('is not asked where it has no permit to spare, is not well, or would serve a caller that has left', async () => {
    await start();
    await warm();
    world.primary.script(() => ({ ttfb_ms: 3 * AFTER_MS, ...completion('first') }));
    for (const name of ['fallback', 'third']) await operate(world.gateway, name, 'pause');
    expect(logged(await send())).toMatchObject({ hedge: 'not-well', attempts: 1 });
    for (const name of ['fallback', 'third']) await operate(world.gateway, name, 'resume');

    // 35 of 50 are the share of LOW: what is left above it is for calls that somebody needs.
    behind(SLOW, SLOW);
    const leave = new AbortController();
    const busy = Array.from({ length: 35 }, (_, index) =>
      world.client.send({ body: ask(`question ${index}`, { model: 'fallback' }), signal: leave.signal }),
    );
    await until(() => world.fallback.requests.length === 35);
    const refused = await send();
    expect([refused.said, logged(refused)]).toMatchObject(['first', { hedge: 'no-permit', attempts: 1 }]);
    leave.abort();
    await Promise.allSettled(busy);
    await until(async () => (await underWay()).every(calls => calls === 0));

    world.primary.script(() => SLOW);
    behind(SLOW, SLOW);
    const gone = new AbortController();
    const abandoned = send({}, CRITICAL, gone.signal).catch(() => undefined);
    await until(() => world.fallback.requests.length === 1);
    gone.abort();
    await abandoned;
    await until(() => [...world.primary.requests, ...world.fallback.requests].every(one => one.closed_at !== null));
    await until(async () => (await underWay()).every(calls => calls === 0));
    expect(await counted('failed')).toBe(1);
  });
});
