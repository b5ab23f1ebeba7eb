import OpenAI from 'openai';
import { startSimulator, type Simulator, type SimulatorOptions } from './simulator';

const FAST = { latency: { first_token_ms: 0, tokens_per_s: 0 } };
const MESSAGES = [{ role: 'user' as const, content: 'ping' }];

let simulator: Simulator;
const start = async (options: SimulatorOptions = {}): Promise<void> => {
  simulator = await startSimulator({ defaultModel: FAST, ...options });
};
afterEach(() => simulator.close());

const client = (): OpenAI => new OpenAI({ baseURL: simulator.url, apiKey: 'none', maxRetries: 0 });
const post = (body: object, path = '/chat/completions', signal: AbortSignal | null = null): Promise<Response> =>
  fetch(simulator.url + path, { method: 'POST', body: JSON.stringify(body), signal });
const chat = (more: object = {}): Promise<Response> => post({ model: 'm', messages: MESSAGES, ...more });
const control = (method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(`${new URL(simulator.url).origin}/control${path}`, {
    method,
    body: body === undefined ? null : JSON.stringify(body),
  });

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 15_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('It did not come true.');
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}

describe('as an OpenAI-compatible provider', () => {
  it('answers any model name, and says that it is a simulator', async () => {
    await start();
    const answer = await client().chat.completions.create({ model: 'whatever', messages: MESSAGES });
    expect(answer).toMatchObject({ model: 'whatever', system_fingerprint: 'spillway-simulator' });
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: "This is Spillway's simulator, not a real model. You asked: ping" },
    });
    const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = answer.usage ?? {};
    expect(total).toBe((input ?? 0) + (output ?? 0));
    expect(simulator.stats()['whatever']).toMatchObject({
      requests: 1,
      accepted: 1,
      tokens_in: input,
      tokens_out: output,
    });
  });

  it('streams the same text, with usage only if asked', async () => {
    await start();
    for (const include of [false, true]) {
      const stream = await client().chat.completions.create({
        model: 'm',
        messages: MESSAGES,
        stream: true,
        stream_options: { include_usage: include },
      });
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      expect(chunks.map(chunk => chunk.choices[0]?.delta.content ?? '').join('')).toMatch(
        /simulator.*You asked: ping$/,
      );
      expect(chunks.filter(chunk => chunk.choices[0]?.finish_reason === 'stop')).toHaveLength(1);
      expect(chunks.filter(chunk => chunk.usage)).toHaveLength(include ? 1 : 0);
    }
  });

  it('gives n choices, streamed and not', async () => {
    await start();
    const whole = (await (await chat({ n: 2 })).json()) as { choices: unknown[]; usage: { completion_tokens: number } };
    expect(whole.choices).toHaveLength(2);
    expect(await (await chat({ n: 2, stream: true })).text()).toContain('"index":1');
    expect(simulator.stats()['m']?.tokens_out).toBe(2 * whole.usage.completion_tokens);
  });

  it('paces a stream, and a JSON answer as if it were one', async () => {
    await start({ models: { m: { latency: { first_token_ms: 40, tokens_per_s: 100 } } } });
    const gaps = [];
    let last = performance.now();
    for await (const block of (await chat({ stream: true, max_tokens: 10 })).body ?? []) {
      gaps.push(performance.now() - last);
      last = performance.now();
      expect(block.length).toBeGreaterThan(0);
    }
    expect(gaps.length).toBeGreaterThan(4);
    const before = performance.now();
    await (await chat({ max_tokens: 10 })).text();
    expect(performance.now() - before).toBeGreaterThan(120);
  });

  it('embeds one text or many', async () => {
    await start();
    const { data, usage } = await client().embeddings.create({ model: 'e', input: ['one', 'two'], dimensions: 32 });
    expect(data.map(item => item.embedding.length)).toEqual([32, 32]);
    expect(usage.prompt_tokens).toBe(2);
  });

  it('lists its models; when strict it has no others', async () => {
    await start({ strict: true, models: { known: {} } });
    expect((await client().models.list()).data.map(model => model.id)).toEqual(['known']);
    await expect(client().chat.completions.create({ model: 'other', messages: MESSAGES })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });

  it('refuses what is no request', async () => {
    await start();
    expect((await chat({ messages: [] })).status).toBe(400);
    expect((await post({ messages: MESSAGES })).status).toBe(400);
    expect((await post({}, '/elsewhere')).status).toBe(404);
    const garbage = await fetch(`${simulator.url}/chat/completions`, { method: 'POST', body: '{' });
    expect(await garbage.json()).toMatchObject({ error: { type: 'invalid_request_error', param: null, code: null } });
  });
});

describe('limits over HTTP', () => {
  it('refuses call rpm + 1 in the words and headers of the family', async () => {
    await start({ models: { m: { limits: { rpm: 3 }, family: 'openai' } } });
    const answers = await Promise.all(Array.from({ length: 5 }, () => chat()));
    expect(answers.filter(answer => answer.status === 200)).toHaveLength(3);
    const refused = answers.find(answer => answer.status === 429);
    expect(await refused?.json()).toMatchObject({ error: { code: 'rate_limit_exceeded', type: 'requests' } });
    expect(refused?.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(simulator.stats()['m']).toMatchObject({ requests: 5, accepted: 3, refused: { rpm: 2 } });
  });

  it('holds a slot until the caller leaves', async () => {
    await start({ models: { m: { limits: { inflight: 1 }, faults: [{ kind: 'hang', times: 1 }] } } });
    const leave = new AbortController();
    const hanging = post({ model: 'm', messages: MESSAGES }, undefined, leave.signal);
    await until(() => simulator.stats()['m']?.inflight === 1);
    expect((await chat()).status).toBe(429);
    leave.abort();
    await expect(hanging).rejects.toThrow('aborted');
    await until(() => simulator.stats()['m']?.inflight === 0);
    expect((await chat()).status).toBe(200);
    expect(simulator.stats()['m']).toMatchObject({ aborted: 1, peak_inflight: 1 });
    expect(simulator.requests('m')[0]).toMatchObject({ finished: false, status: null });
    expect(simulator.requests('m')[0]?.closed_at).not.toBeNull();
  });

  it('frees the slot before the last byte is out', async () => {
    await start({ models: { m: { limits: { inflight: 1 } } } });
    for (let call = 0; call < 50; call += 1) {
      const answer = await chat({ stream: call % 2 === 0 });
      expect(answer.status).toBe(200);
      await answer.text();
    }
  });
});

describe('control endpoints', () => {
  it('change, tell and forget a model', async () => {
    await start();
    const changed = await control('PATCH', '/models/qwen%2Ftiny%3A7b', { limits: { rpm: 1 }, family: 'ark' });
    expect(await changed.json()).toMatchObject({ limits: { rpm: 1, tpm: 0 }, family: 'ark' });
    await post({ model: 'qwen/tiny:7b', messages: MESSAGES });
    const refused = await post({ model: 'qwen/tiny:7b', messages: MESSAGES });
    expect(await refused.json()).toMatchObject({ error: { code: 'ModelAccountRpmRateLimitExceeded' } });
    expect(await (await control('GET', '/stats')).json()).toMatchObject({ 'qwen/tiny:7b': { requests: 2 } });
    await control('DELETE', '/models/qwen%2Ftiny%3A7b');
    expect(await (await control('GET', '/models/qwen%2Ftiny%3A7b')).json()).toMatchObject({ limits: { rpm: 0 } });
  });

  it('take a script, show the log and reset', async () => {
    await start();
    await control('POST', '/models/m/script', [{ status: 418, text: 'teapot' }]);
    expect((await chat()).status).toBe(418);
    expect(await (await control('GET', '/requests?model=m')).json()).toMatchObject([{ url: '/v1/chat/completions' }]);
    await control('POST', '/reset');
    expect(simulator.stats()).toEqual({});
    expect((await chat()).status).toBe(200);
  });

  it('answer 400 to what they do not understand', async () => {
    await start();
    expect((await control('PATCH', '/models/m', { limits: { rmp: 1 } })).status).toBe(400);
    expect((await control('POST', '/models/m/script', [{ staus: 200 }])).status).toBe(400);
    expect((await control('POST', '/models/m/script', {})).status).toBe(400);
    expect((await control('GET', '/nothing')).status).toBe(404);
  });
});
