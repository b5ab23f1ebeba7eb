import { completion, refusal } from '../support/model-answers';
import { until, type Reply } from '../support/api-client';
import { ask, startWorld, type World } from '../support/world';

const TTL_MS = 1_000;
/** How long the route `brief` serves what has expired. */
const BRIEF_MS = 1_000;
const SORRY = 'Sorry, not now.';
const HANG = { no_response: 'hang' } as const;

/** What an answer says of the rung that it stands on. */
const rungOf = ({ status, headers }: Reply): unknown[] => [
  status,
  headers.get('x-spillway-outcome'),
  headers.get('x-spillway-degraded'),
  headers.get('x-spillway-cache'),
];
const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

describe('the ladder of degradation', () => {
  let world: World;

  beforeAll(async () => {
    const route = {
      cache: { exact: true, semantic: true, ttl_s: TTL_MS / 1_000 },
      stale_if_error_s: 60,
      fallback_response: { normal: SORRY },
    };
    const brief = { ...route, chain: ['primary', 'fallback'], stale_if_error_s: BRIEF_MS / 1_000 };
    world = await startWorld({ cache: true, route, configuration: { routes: { brief } } });
  });
  beforeEach(async () => {
    await world.heal();
    up();
  });
  afterAll(() => world.stop());

  const up = (): void => {
    world.primary.script([completion('fresh')]);
    world.fallback.script([completion('second best')]);
  };
  const down = (): void => {
    world.primary.script([refusal(500)]);
    world.fallback.script([refusal(503)]);
  };
  const send = (content: string, more: { headers?: object; body?: object } = {}): Promise<Reply> =>
    world.client.send({ headers: { ...more.headers }, body: ask(content, more.body) });
  const explain = async (reply: Reply): Promise<readonly Record<string, unknown>[]> => {
    const id = reply.headers.get('x-request-id') ?? '';
    const explanation = await world.client.request('GET', `/admin/explain/${id}`, {});
    return (JSON.parse(explanation.raw) as { decisions: readonly Record<string, unknown>[] }).decisions;
  };

  it('is not climbed down while the first model answers; then an equal call has the kept answer', async () => {
    expect(rungOf(await send('exact'))).toEqual([200, 'generated', null, 'MISS']);
    down();
    expect(rungOf(await send('exact'))).toEqual([200, 'cache-exact', null, 'HIT']);
  });

  it('semantic: a question in other words has the kept answer', async () => {
    await send('How long does the battery last?');
    down();
    expect(rungOf(await send('how long does the battery last'))).toEqual([200, 'cache-exact', null, 'HIT']);
  });

  it('coalesced: an equal call under way is shared', async () => {
    world.primary.script([{ ...completion('shared'), ttfb_ms: 300 }]);
    const replies = await Promise.all([send('together'), send('together')]);
    expect(new Set(replies.map(reply => reply.headers.get('x-spillway-outcome')))).toEqual(
      new Set(['coalesced', 'generated']),
    );
  });

  it('next model: another one answers', async () => {
    world.primary.script([refusal(500)]);
    const reply = await send('next');
    expect([...rungOf(reply), reply.said]).toEqual([200, 'fallback-model', 'fallback-model', 'MISS', 'second best']);
  });

  describe('stale', () => {
    const KETTLE = 'Is there a warranty on the kettle?';

    beforeAll(async () => {
      await world.heal();
      up();
      for (const question of ['stale', 'stale stream', KETTLE, 'renewed', 'no cache, please', 'riders']) {
        await send(question);
      }
      await pause(TTL_MS + 100);
    });

    it('an answer that has expired is served when nothing can answer', async () => {
      down();
      const reply = await send('stale');
      expect([...rungOf(reply), reply.said]).toEqual([200, 'cache-exact', 'stale', 'HIT', 'fresh']);
      expect(reply.headers.get('x-spillway-cache-tier')).toBe('exact');
      expect(reply.headers.get('x-spillway-model')).toBe('primary');
      expect(reply.headers.get('x-spillway-attempts')).toBe('2');
      expect(Number(reply.headers.get('age'))).toBeGreaterThanOrEqual(1);
      expect(await explain(reply)).toContainEqual({ kind: 'stale', tier: 'exact', insteadOf: 'upstream_error' });
    });

    it('the same as a stream', async () => {
      down();
      const reply = await world.client.stream({ body: ask('stale stream') });
      expect([...rungOf(reply), reply.said]).toEqual([200, 'cache-exact', 'stale', 'HIT', 'fresh']);
    });

    it('also one to the question in other function words', async () => {
      down();
      const reply = await send('is there a warranty on the kettle');
      expect([...rungOf(reply), reply.headers.get('x-spillway-cache-tier')]).toEqual([
        200,
        'cache-exact',
        'stale',
        'HIT',
        'canonical',
      ]);
    });

    it('is not served while a model answers, nor kept longer for having been served', async () => {
      world.primary.script([completion('newer')]);
      const reply = await send('renewed');
      expect([...rungOf(reply), reply.said]).toEqual([200, 'generated', null, 'MISS', 'newer']);
    });

    it('ends with its time: then comes the fallback text', async () => {
      await send('too old', { body: { model: 'brief' } });
      await pause(TTL_MS + BRIEF_MS + 100);
      down();
      expect(rungOf(await send('too old', { body: { model: 'brief' } }))).toEqual([
        200,
        'fallback-response',
        'fallback-response',
        'MISS',
      ]);
    });

    it('is not for a caller that wants nothing from the cache', async () => {
      down();
      const reply = await send('no cache, please', { headers: { 'cache-control': 'no-cache' } });
      expect(rungOf(reply)).toEqual([200, 'fallback-response', 'fallback-response', 'BYPASS']);
    });

    it('comes from every rider of a failed call by itself', async () => {
      world.primary.script([{ ...refusal(500), ttfb_ms: 300 }]);
      world.fallback.script([refusal(503)]);
      const replies = await Promise.all([send('riders'), send('riders')]);
      expect(replies.map(rungOf)).toEqual([
        [200, 'cache-exact', 'stale', 'HIT'],
        [200, 'cache-exact', 'stale', 'HIT'],
      ]);
      expect(world.primary.requests).toHaveLength(1);
    });
  });

  describe('later: a caller that prefers a job, and waits a while before', () => {
    const patient = { headers: { prefer: 'respond-async, wait=1' } };
    const look = async (reply: Reply): Promise<Record<string, unknown>> => {
      const path = reply.headers.get('location') ?? '';
      const { raw } = await world.client.request('GET', path, { authorization: 'Bearer KEY_A' });
      return JSON.parse(raw) as Record<string, unknown>;
    };
    const result = async (reply: Reply): Promise<unknown> => {
      await until(async () => (await look(reply))['status'] === 'succeeded', 20_000);
      return (await look(reply))['response'];
    };

    it('has its answer at once where there is one', async () => {
      const reply = await send('prompt', patient);
      expect([...rungOf(reply), reply.said]).toEqual([200, 'generated', null, 'MISS', 'fresh']);
    });

    it('has a job instead of a failure', async () => {
      down();
      const reply = await send('broken, later', patient);
      expect([reply.status, reply.headers.get('preference-applied')]).toEqual([202, 'respond-async']);
      expect(reply.body).toMatchObject({ status: 'queued' });
      const id = reply.headers.get('x-request-id') ?? '';
      expect(world.gateway.log.ofCall(id)).toMatchObject({ status: 202, code: 'upstream_error' });
      up();
      expect(await result(reply)).toMatchObject({ choices: [{ message: { content: 'fresh' } }] });
    });

    it('has a job when its wait is over', async () => {
      world.primary.script([HANG]);
      const begun = Date.now();
      const reply = await send('slow, later', patient);
      expect(reply.status).toBe(202);
      expect(Date.now() - begun).toBeGreaterThanOrEqual(990);
      up();
      expect(await result(reply)).toMatchObject({ choices: [{ message: { content: 'fresh' } }] });
    });

    it('has what is kept rather than a job', async () => {
      await send('kept, later');
      await pause(TTL_MS + 100);
      down();
      expect(rungOf(await send('kept, later', patient))).toEqual([200, 'cache-exact', 'stale', 'HIT']);
    });

    it('waits for an embedding as long as it takes', async () => {
      const json = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] };
      world.primary.script([{ json, ttfb_ms: 1_200 }]);
      const body = { model: 'm-primary', input: 'slow' };
      expect((await world.client.send({ path: '/v1/embeddings', body, ...patient })).status).toBe(200);
    });

    it('is refused at once what no job can be', async () => {
      const streamed = await send('streamed', { ...patient, body: { stream: true } });
      expect(streamed.status).toBe(400);
      expect(world.primary.requests).toHaveLength(0);
    });
  });

  it('the fallback text is the last rung, and the error where there is none', async () => {
    down();
    const reply = await send('nothing');
    expect([...rungOf(reply), reply.said]).toEqual([200, 'fallback-response', 'fallback-response', 'MISS', SORRY]);
    const low = await world.client.send({ path: '/low/v1/chat/completions', body: ask('nothing') });
    expect([low.status, low.said]).toEqual([502, 'upstream_error']);
  });
});
