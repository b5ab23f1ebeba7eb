import OpenAI from 'openai';
import { ask, askForStream, callerOf, failureOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { eventually, reset } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const KEY = 'sk-shop-0123456789';
const NARROW_KEY = 'sk-narrow-0123456789';

const CONFIGURATION = {
  models: {
    first: { provider: 'simulator', upstream_model: 'real-first' },
    second: { provider: 'simulator' },
    single: { provider: 'simulator', limits: { inflight: 1 }, headroom: 0 },
  },
  routes: { assistant: { chain: ['first', 'second'] } },
  priorities: { low: { queue_limit: 0 } },
  keys: [
    { name: 'shop', key: KEY },
    { name: 'narrow', key: NARROW_KEY, max_priority: 'normal', routes: ['assistant'] },
  ],
};

describe('the openai client, two gateways and a worker on one Redis', () => {
  let installation: Installation;
  let gateways: SpillwayProcess[];
  let shop: OpenAI;

  beforeAll(async () => {
    installation = await startInstallation();
    const roles = ['gateway', 'gateway', 'worker'] as const;
    const processes = await Promise.all(roles.map(role => installation.start(role, CONFIGURATION)));
    gateways = processes.slice(0, 2);
    shop = callerOf(gatewayAt(0).url, { key: KEY });
  });

  afterAll(() => installation.stop());
  beforeEach(() => installation.simulator.reset());

  const gatewayAt = (index: number): SpillwayProcess => {
    const gateway = gateways[index];
    if (gateway === undefined) throw new Error('no such gateway');
    return gateway;
  };

  it.each([0, 1])('gets a whole answer from gateway %i, and is told how it came about', async index => {
    const caller = callerOf(gatewayAt(index).url, { key: KEY });
    const options = { headers: { 'x-request-id': `order_66.a-${index}` } };
    const { text, headers, completion } = await ask(caller, 'assistant', `hello gateway ${index}`, options);
    expect(text).toContain(`hello gateway ${index}`);
    expect(completion).toMatchObject({ object: 'chat.completion', choices: [{ finish_reason: 'stop' }] });
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-request-id': `order_66.a-${index}`,
      'x-spillway-outcome': 'generated',
      'x-spillway-priority': 'normal',
      'x-spillway-cache': 'MISS',
      'x-spillway-model': 'first',
      'x-spillway-attempts': '1',
      'x-spillway-queue-ms': expect.stringMatching(/^\d+$/) as string,
    });
    expect(headers.has('x-spillway-degraded')).toBe(false);
  });

  it('gets a stream', async () => {
    const { text, headers, chunks } = await askForStream(shop, 'assistant', 'tell me a story');
    expect(text).toContain('tell me a story');
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(headers.get('content-type')).toContain('text/event-stream');
    expect(headers.get('x-spillway-outcome')).toBe('generated');
    expect(headers.get('x-spillway-model')).toBe('first');
  });

  it('gets the usage of a stream only when it asks for it', async () => {
    const usages = async (options: object): Promise<number> => {
      const body = { model: 'assistant', messages: [{ role: 'user' as const, content: 'how much?' }], ...options };
      let count = 0;
      const stream = await shop.chat.completions.create(
        { ...body, stream: true },
        { headers: { 'cache-control': 'no-store' } },
      );
      for await (const chunk of stream) if (chunk.usage) count += 1;
      return count;
    };
    expect(await usages({})).toBe(0);
    expect(await usages({ stream_options: { include_usage: true } })).toBe(1);
  });

  it('finds the answer whole at the end of its stream helper', async () => {
    const stream = shop.chat.completions.stream({
      model: 'assistant',
      messages: [{ role: 'user', content: 'all of it' }],
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.content).toContain('all of it');
  });

  it('gets embeddings, the same in both encodings', async () => {
    const input = ['one text', 'another text'];
    const { data: plain, response } = await shop.embeddings
      .create({ model: 'assistant', input, encoding_format: 'float' })
      .withResponse();
    const packed = await shop.embeddings.create({ model: 'assistant', input });
    expect(plain.data).toHaveLength(2);
    expect(packed.data.map(({ index }) => index)).toEqual([0, 1]);
    for (const [index, { embedding }] of plain.data.entries()) {
      const other = packed.data[index]?.embedding ?? [];
      expect(other).toHaveLength(embedding.length);
      embedding.forEach((value, place) => expect(other[place]).toBeCloseTo(value, 5));
    }
    expect(response.headers.get('x-spillway-outcome')).toBe('generated');
    expect(response.headers.get('x-spillway-model')).toBe('first');
  });

  it('lists what may be called, and finds each entry', async () => {
    const ids: string[] = [];
    for await (const { id, object } of shop.models.list()) {
      ids.push(id);
      expect(object).toBe('model');
    }
    expect(ids).toEqual(['assistant', 'first', 'second', 'single']);
    expect(await shop.models.retrieve('assistant')).toMatchObject({ id: 'assistant', object: 'model' });
    const narrow = await callerOf(gatewayAt(0).url, { key: NARROW_KEY }).models.list();
    expect(narrow.data.map(({ id }) => id)).toEqual(['assistant']);
  });

  it.each(['critical', 'normal', 'low'])('may be given the base URL of the class %s', async priority => {
    const caller = callerOf(gatewayAt(1).url, { key: KEY, path: `/${priority}/v1` });
    const { headers } = await ask(caller, 'assistant', `as ${priority}`);
    expect(headers.get('x-spillway-priority')).toBe(priority);
    expect((await caller.models.list()).data).not.toHaveLength(0);
    const embeddings = await caller.embeddings.create({ model: 'first', input: priority }).withResponse();
    expect(embeddings.response.headers.get('x-spillway-priority')).toBe(priority);
  });

  it('is told when its key may not use the class it asked for', async () => {
    const caller = callerOf(gatewayAt(0).url, { key: NARROW_KEY, path: '/critical/v1' });
    const { headers } = await ask(caller, 'assistant', 'I am important');
    expect(headers.get('x-spillway-priority')).toBe('normal');
    expect(headers.get('x-spillway-priority-requested')).toBe('critical');
  });

  it('never shows a model the key of its caller or the controls of the router', async () => {
    await ask(shop, 'assistant', 'who am I?', {
      headers: { 'x-spillway-scope': 'secret-scope', 'x-custom': 'kept' },
      body: {
        model: 'assistant',
        messages: [{ role: 'user', content: 'who am I?' }],
        service_tier: 'priority',
        user: 'u-1',
        made_up: { deep: [1] },
      },
    });
    const [seen] = installation.simulator.requests();
    expect(JSON.stringify(seen?.headers)).not.toContain(KEY);
    expect(Object.keys(seen?.headers ?? {}).filter(name => name.startsWith('x-spillway'))).toEqual([]);
    expect(JSON.parse(seen?.body ?? '')).toEqual({
      model: 'real-first',
      messages: [{ role: 'user', content: 'who am I?' }],
      user: 'u-1',
      made_up: { deep: [1] },
    });
    expect(seen?.headers['x-custom']).toBe('kept');
  });

  describe('meets errors of the classes it knows', () => {
    const messages = [{ role: 'user' as const, content: 'will this work?' }];

    it.each([
      { what: 'a body that is no call', kind: OpenAI.BadRequestError, code: 'invalid_request', body: { messages: [] } },
      { what: 'an unknown class', kind: OpenAI.BadRequestError, code: 'invalid_request', body: { service_tier: 'x' } },
      { what: 'an unknown key', kind: OpenAI.AuthenticationError, code: 'invalid_api_key', key: 'sk-wrong' },
      {
        what: 'a model beyond its key',
        kind: OpenAI.PermissionDeniedError,
        code: 'not_allowed',
        key: NARROW_KEY,
        body: { model: 'second' },
      },
      { what: 'an unknown model', kind: OpenAI.NotFoundError, code: 'model_not_found', body: { model: 'nobody' } },
    ])('$what: $code', async ({ kind, code, key = KEY, body = {} }) => {
      const caller = callerOf(gatewayAt(0).url, { key });
      const call = caller.chat.completions.create({ model: 'assistant', messages, ...body } as never, {
        headers: { 'x-request-id': 'failing-1' },
      });
      const error = await failureOf(call);
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ code, requestID: 'failing-1' });
      expect(error.headers?.get('x-should-retry')).toBe('false');
      expect(installation.simulator.requests()).toHaveLength(0);
    });

    it('a refusal of the model itself, word for word', async () => {
      const json = { error: { message: 'no such voice', type: 'invalid_request_error', param: 'voice', code: 'bad' } };
      installation.simulator.script('real-first', [{ status: 422, json }]);
      const error = await failureOf(ask(shop, 'assistant', 'sing'));
      expect(error).toBeInstanceOf(OpenAI.UnprocessableEntityError);
      expect(error).toMatchObject({ code: 'bad', param: 'voice', error: json.error });
      expect(error.headers?.get('x-spillway-outcome')).toBe('rejected-invalid');
    });

    it('a full queue', async () => {
      installation.simulator.configure('single', { latency: { first_token_ms: 1_000 } });
      const running = ask(shop, 'single', 'the first one');
      await eventually(async () => installation.simulator.requests('single').length === 1);
      const error = await failureOf(
        ask(shop, 'single', 'no room for me', { headers: { 'x-spillway-priority': 'low' } }),
      );
      expect(error).toBeInstanceOf(OpenAI.RateLimitError);
      expect(error.code).toBe('queue_full');
      expect(Number(error.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
      await running;
    });

    it.each([
      [502, 'upstream_error', { kind: 'status', status: 500 }],
      [502, 'upstream_auth_error', { kind: 'status', status: 401 }],
      [503, 'no_model_available', { kind: 'status', status: 429 }],
    ] as const)('no model that answers: %i %s', async (status, code, fault) => {
      for (const name of ['real-first', 'second']) installation.simulator.configure(name, { faults: [fault] });
      for (const call of [
        () => ask(shop, 'assistant', `${code}, whole`),
        () => askForStream(shop, 'assistant', `${code}, streamed`),
      ]) {
        await reset(gatewayAt(0), ['first', 'second']);
        const error = await failureOf(call());
        expect(error).toBeInstanceOf(OpenAI.InternalServerError);
        expect(error).toMatchObject({ status, code, requestID: expect.any(String) as string });
        expect(error.headers?.get('x-spillway-outcome')).toBe('upstream-failed');
        expect(error.headers?.get('x-spillway-attempts')).toBe('2');
        expect(error.headers?.has('retry-after')).toBe(status === 503);
      }
    });
  });
});
