import { setTimeout as sleep } from 'node:timers/promises';
import { until, type ApiClient, type Reply } from '../support/api-client';
import { allNear, embeddings } from '../support/embeddings';
import { startFakeQdrant, type FakeQdrant } from '../support/fake-qdrant';
import { chunk, completion, events, refusal, text } from '../support/model-answers';
import type { Step } from '../support/upstream-step';
import { ask, startWorld, worldConfiguration, type World } from '../support/world';

const tierOf = ({ headers }: Reply): string =>
  [headers.get('x-spillway-cache'), headers.get('x-spillway-cache-tier')].filter(Boolean).join(' ');
/** An answer is stored after its reader has it. */
const stored = (): Promise<void> => sleep(60);

const SAME = ['How do I log in to the portal?', 'How do I sign into the portal?'] as const;

interface Parts {
  readonly status: string;
  readonly parts: Readonly<Record<string, string>>;
}

async function readiness(world: World): Promise<Parts> {
  return JSON.parse((await world.client.get('/readyz')).raw) as Parts;
}

describe('with an embedder that scores everything 0.96', () => {
  const traps: readonly (readonly [string, string])[] = [
    ['What is 17*23?', 'What is 17*24?'],
    ['Status of order 10482', 'Status of order 10428'],
    ['Explain --max-cost', 'Explain --max-heads'],
    ['delete this branch', 'delete this repo'],
    ['Weather in Paris, France tomorrow', 'Weather in Paris, Texas tomorrow'],
    ['Population of Niger', 'Population of Nigeria'],
    ["Translate 'good morning' to Spanish", "Translate 'good morning' to Italian"],
    ['price on 2026-01-02', 'price on 2026-02-01'],
    ['Summarise in 3 words', 'Summarise in 30 words'],
    ['¿Cuál es la capital de Francia?', 'What is the capital of France?'],
    ['Is the watch waterproof?', 'Is the watch not waterproof?'],
    ['Is the room hot?', 'Is the room cold?'],
  ];
  const [game, performance] = ['这款手机能打游戏吗', '这款手机游戏性能怎么样'];
  let world: World;
  let client: ApiClient;

  beforeAll(async () => {
    world = await startWorld({
      route: { cache: { exact: true, semantic: true } },
      configuration: { embedding: { provider: 'fallback', model: 'e' } },
    });
    ({ client } = world);
    world.fallback.script(embeddings(allNear([...traps.flat(), game, performance, ...SAME], 0.96)));
    world.primary.script(() => completion('an answer'));
  });
  afterAll(() => world.stop());

  const askedAfter = async (first: string, second: string, scope = first): Promise<Reply> => {
    const headers = { 'x-spillway-scope': encodeURIComponent(scope).slice(0, 100) };
    await client.send({ body: ask(first), headers });
    await stored();
    return client.send({ body: ask(second), headers });
  };

  it.each(traps)('D12 and row 98: %s does not answer %s', async (first, second) => {
    expect(tierOf(await askedAfter(first, second))).toBe('MISS');
    expect(tierOf(await askedAfter(second, first, `again ${first}`))).toBe('MISS');
  });

  it('D13 but a paraphrase is answered, and tells how near it is', async () => {
    const reply = await askedAfter(game, performance);
    expect(tierOf(reply)).toBe('SEMANTIC_HIT semantic');
    expect(Number(reply.headers.get('x-spillway-similarity'))).toBeCloseTo(0.96, 1);
    expect(reply.headers.get('x-spillway-similarity')).toMatch(/^0\.\d{4}$/);
    expect(reply.headers.get('x-spillway-outcome')).toBe('cache-semantic');
    expect(Number(reply.headers.get('age'))).toBeGreaterThanOrEqual(0);
    expect(reply.headers.get('x-spillway-attempts')).toBe('0');
  });

  it('row 95: a request may raise the threshold, and not lower it', async () => {
    const scope = { 'x-spillway-scope': 'raised' };
    await client.send({ body: ask(game), headers: scope });
    await stored();
    const asked = async (threshold: string): Promise<string> => {
      const headers = { ...scope, 'x-spillway-cache-threshold': threshold };
      return tierOf(await client.send({ body: ask(performance), headers }));
    };
    expect(await asked('0.1')).toBe('SEMANTIC_HIT semantic');
    expect(await asked('0.99')).toBe('MISS');
  });
});

describe('with the builtin embedder', () => {
  const SEMANTIC = { route: { cache: { exact: true, semantic: true } }, model: { climb: { mode: 'off' } } };
  let world: World;
  let client: ApiClient;

  beforeAll(async () => {
    world = await startWorld(SEMANTIC);
    ({ client } = world);
  });
  afterAll(() => world.stop());

  it('D05 failures are never stored', async () => {
    const failures: Step[] = [
      refusal(400, 'bad'),
      refusal(503),
      { json: { error: { message: 'x', code: 500 } } },
      events([{ error: { message: 'x' } }, '[DONE]']),
      events([text('half'), chunk({}, 'length'), '[DONE]']),
    ];
    for (const [index, step] of failures.entries()) {
      const scope = { 'x-spillway-scope': `failure ${index}` };
      world.primary.script([step]);
      await client.send({ body: ask(SAME[0], { model: 'alone' }), headers: scope });
      await stored();
      world.primary.script([completion('good')]);
      const reply = await client.send({ body: ask(SAME[1], { model: 'alone' }), headers: scope });
      expect([index, reply.said, tierOf(reply)]).toEqual([index, 'good', 'MISS']);
    }
  });

  it('D03 and rows 95, 96: no answer crosses callers or scopes', async () => {
    world.primary.script(() => completion('for a'));
    await client.send({ body: ask(SAME[0]) });
    await stored();
    world.primary.script(() => completion('for others'));
    const others = await client.as('KEY_B').send({ body: ask(SAME[1]) });
    const elsewhere = await client.send({ body: ask(SAME[1]), headers: { 'x-spillway-scope': 'elsewhere' } });
    const otherRoute = await client.send({ body: ask(SAME[1], { model: 'alone' }) });
    expect([others, elsewhere, otherRoute].map(reply => [reply.said, tierOf(reply)])).toEqual(
      Array(3).fill(['for others', 'MISS']),
    );
    expect([(await client.send({ body: ask(SAME[1]) })).said]).toEqual(['for a']);
  });

  it('D03 and row 101: what is personal is not compared', async () => {
    world.primary.script([completion('A: 5,432.10'), completion('B: 1'), completion('B: 2')]);
    const asked = async (key: string, question: string): Promise<string> =>
      (await client.as(key).send({ body: ask(question, { temperature: 0 }) })).said;
    expect(await asked('KEY_A', 'What is my account balance?')).toBe('A: 5,432.10');
    await stored();
    expect(await asked('KEY_B', 'What is my account balance?')).toBe('B: 1');
    await stored();
    expect(await asked('KEY_B', 'Show me my account balance')).toBe('B: 2');
  });

  it('A03 half an emoji is compared as any other text', async () => {
    const half = '{"model":"m-primary","messages":[{"role":"user","content":"How do I log in? \\ud83d"}]}';
    const other = '{"model":"m-primary","messages":[{"role":"user","content":"How do I sign in? \\ude80"}]}';
    world.primary.script([completion('so'), completion('or so')]);
    expect((await client.send({ body: half })).said).toBe('so');
    await stored();
    expect([tierOf(await client.send({ body: half })), (await client.send({ body: other })).status]).toEqual([
      'HIT exact',
      200,
    ]);
  });

  it('D08 the same last message in another conversation is another question', async () => {
    world.primary.script(() => completion('so'));
    const turn = (system: string, question: string): object =>
      ask('', {
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: question },
        ],
      });
    await client.send({ body: turn('You sell shoes', SAME[0]) });
    await stored();
    expect(tierOf(await client.send({ body: turn('You are a bank', SAME[1]) }))).toBe('MISS');
    expect(tierOf(await client.send({ body: turn('You sell shoes', SAME[1]) }))).toBe('SEMANTIC_HIT semantic');
  });

  it('row 111: a route that was given another model does not answer with what the old one said', async () => {
    const scope = { 'x-spillway-scope': 'another model' };
    const asked = async (question: string): Promise<[string, string]> => {
      const reply = await client.send({ body: ask(question), headers: scope });
      await stored();
      return [reply.said, tierOf(reply)];
    };
    const model = (name: string): void => {
      const urls = { primary: world.primary.url, fallback: world.fallback.url };
      world.gateway.reconfigure(worldConfiguration(urls, { ...SEMANTIC, model: { upstream_model: name } }));
    };
    world.primary.script(({ body }) => completion(`by ${(JSON.parse(body) as { model: string }).model}`));
    model('old');
    expect(await asked(SAME[0])).toEqual(['by old', 'MISS']);
    expect(await asked(SAME[1])).toEqual(['by old', 'SEMANTIC_HIT semantic']);
    model('new');
    for (const question of [SAME[0], SAME[1], `Please, ${SAME[0]}`].toReversed()) {
      expect((await asked(question))[0]).toBe('by new');
    }
    model('old');
    expect(await asked(SAME[0])).toEqual(['by old', 'HIT exact']);
    world.gateway.reconfigure(
      worldConfiguration({ primary: world.primary.url, fallback: world.fallback.url }, SEMANTIC),
    );
  });

  it('D17 and row 112: pictures are not compared', async () => {
    world.primary.script([completion('cat'), completion('dog')]);
    const picture = (question: string): object =>
      ask([
        { type: 'text', text: question },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ]);
    expect((await client.send({ body: picture(SAME[0]) })).said).toBe('cat');
    await stored();
    expect((await client.send({ body: picture(SAME[1]) })).said).toBe('dog');
  });

  it('D20 and row 90: a hit costs no call, no token and no turn', async () => {
    const headers = { 'x-spillway-scope': 'cost' };
    world.primary.script([
      completion('pong', { usage: { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 } }),
    ]);
    await client.send({ body: ask(SAME[0]), headers });
    await stored();
    const tokens = (): Promise<number> => client.metric('ai_token_consumed_total', { model: 'primary' });
    const hits = (): Promise<number> =>
      client.metric('spillway_cache_lookups_total', { level: 'semantic', result: 'hit' });
    const [tokensBefore, hitsBefore] = [await tokens(), await hits()];
    for (let round = 0; round < 5; round++) {
      expect(tierOf(await client.send({ body: ask(SAME[1]), headers }))).toBe('SEMANTIC_HIT semantic');
    }
    expect([await tokens(), await hits()]).toEqual([tokensBefore, hitsBefore + 5]);
    expect(world.primary.requests).toHaveLength(1);
  });

  it('rows 104 and 106: streams share one entry with other calls', async () => {
    const headers = { 'x-spillway-scope': 'streams' };
    world.primary.script([events([text('po'), text('ng'), chunk({}, 'stop'), '[DONE]'])]);
    await client.stream({ body: ask(SAME[0]), headers });
    await stored();
    const streamed = await client.stream({ body: ask(SAME[1]), headers });
    const whole = await client.send({ body: ask(SAME[1]), headers });
    expect([streamed, whole].map(reply => [reply.said, tierOf(reply)])).toEqual(
      Array(2).fill(['pong', 'SEMANTIC_HIT semantic']),
    );
  });

  it('clearing makes vectors unfindable, and the log tells what was compared', async () => {
    world.primary.script(() => completion('so'));
    const headers = { 'x-spillway-scope': 'clearing' };
    await client.send({ body: ask(SAME[0]), headers });
    await stored();
    expect(tierOf(await client.send({ body: ask(SAME[1]), headers }))).toBe('SEMANTIC_HIT semantic');
    await client.request('DELETE', '/admin/cache?scope=clearing');
    const after = await client.send({ body: ask(SAME[1]), headers: { ...headers, 'x-request-id': 'cleared' } });
    expect(tierOf(after)).toBe('MISS');
    await client.send({ body: ask(SAME[0]), headers: { ...headers, 'cache-control': 'no-cache' } });
    await stored();
    const near = { ...headers, 'x-request-id': 'near' };
    expect(tierOf(await client.send({ body: ask('How do I log out of the portal?'), headers: near }))).toBe('MISS');
    expect(world.gateway.log.ofCall('cleared')).toMatchObject({ cache: 'MISS', similarity: null });
    const line = world.gateway.log.ofCall('near');
    expect(line).toMatchObject({ similarity_fate: 'refused', similarity_reason: expect.any(String) });
    expect(JSON.stringify(line)).not.toContain('portal');
  });
});

describe('D16 and rows 108 to 110: trouble is a miss', () => {
  let qdrant: FakeQdrant;
  let world: World;
  let client: ApiClient;

  beforeAll(async () => {
    qdrant = await startFakeQdrant();
    world = await startWorld({
      route: { cache: { exact: true, semantic: true } },
      configuration: {
        qdrant: { url: qdrant.url },
        embedding: { provider: 'fallback', model: 'e' },
      },
    });
    ({ client } = world);
    world.primary.script(() => completion('pong'));
  });
  beforeEach(() => world.fallback.script(embeddings(allNear(SAME, 0.97))));
  afterAll(async () => {
    await world.stop();
    await qdrant.close();
  });

  const isAnswered = async (name: string): Promise<number> => {
    const reply = await client.send({ body: ask(`How do I use the ${name}?`) });
    expect([reply.status, reply.said, tierOf(reply)]).toEqual([200, 'pong', 'MISS']);
    return reply.took;
  };
  const stateOf = (service: string): Promise<number> => client.metric('circuit_breaker_state', { service });

  it('the neighbour is found in Qdrant while all is well', async () => {
    await client.send({ body: ask(SAME[0]) });
    await until(() => [...qdrant.collections.all.values()].some(({ points }) => points.size > 0));
    expect(tierOf(await client.send({ body: ask(SAME[1]) }))).toBe('SEMANTIC_HIT semantic');
    expect(tierOf(await client.as('KEY_B').send({ body: ask(SAME[1]) }))).toBe('MISS');
    expect(qdrant.problems).toEqual([]);
    expect(await readiness(world)).toEqual({ status: 'ok', parts: { qdrant: 'ok', embedder: 'ok' } });
  });

  it.each(['refuse', 'hang', { status: 400, error: 'Wrong input: Vector dimension error' }] as const)(
    'of Qdrant: %j',
    async mood => {
      qdrant.mood = mood;
      const startedAt = Date.now();
      await until(async () => (await readiness(world)).parts['qdrant'] === 'lost');
      const shownAfter = Date.now() - startedAt;
      await isAnswered(`toaster ${JSON.stringify(mood)}`);
      expect(await stateOf('qdrant')).toBe(1);
      qdrant.mood = 'well';
      const returnedAt = Date.now();
      await until(async () => (await readiness(world)).status === 'ok');
      // A second and two, and some for a busy machine.
      expect(shownAfter).toBeLessThan(4_000);
      expect(Date.now() - returnedAt).toBeLessThan(6_000);
      expect(await stateOf('qdrant')).toBe(0);
    },
  );

  it('of the embedder, which is left alone until it is back', async () => {
    world.fallback.script([{ no_response: 'hang' }]);
    expect(await isAnswered('kettle')).toBeLessThan(4_000);
    await until(async () => (await readiness(world)).parts['embedder'] === 'lost');
    expect(await stateOf('embedder')).toBe(1);
    await isAnswered('lamp');
    world.fallback.script(embeddings(allNear(SAME, 0.97)));
    await until(async () => (await readiness(world)).status === 'ok');
    expect(tierOf(await client.send({ body: ask(SAME[1]) }))).toMatch(/HIT/);
  });

  it('of an embedder that answers in another dimension', async () => {
    world.fallback.script(embeddings(() => [1, 0]));
    expect(await isAnswered('radio')).toBeLessThan(4_000);
  });

  it('A03 and half an emoji reaches it as well-formed text', async () => {
    const asked = JSON.stringify(ask('Which of the \ud83d lamps is the brightest?')).replace('\ud83d', '\\ud83d');
    expect((await client.send({ body: asked })).said).toBe('pong');
    await until(() => world.fallback.requests.some(({ body }) => body.includes('lamps')));
    for (const { body } of world.fallback.requests) {
      for (const text of (JSON.parse(body) as { input: string[] }).input) expect(text.isWellFormed()).toBe(true);
    }
  });

  it('and a text too long for it is cut', async () => {
    const long = `${SAME[0]} ${'very '.repeat(3_000)}`;
    expect((await client.send({ body: ask(long) })).said).toBe('pong');
  });
});
