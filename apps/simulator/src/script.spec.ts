import { request } from 'node:http';
import { InvalidScript, parseSteps, Script, type Step } from './script';
import { startSimulator, type Simulator } from './simulator';

const asked = (content: string, headers = {}): { headers: object; text: string; body: never } => {
  const body = { model: 'm', messages: [{ role: 'user', content }] };
  return { headers, text: JSON.stringify(body), body: body as never };
};

describe('Script', () => {
  const play = (steps: Step[], texts: string[]): (number | undefined)[] => {
    const script = new Script(steps);
    return texts.map(text => script.pick(asked(text) as never)?.status);
  };

  it('goes in order and repeats the last step', () => {
    expect(play([{ status: 500 }, { status: 429, times: 2 }, { status: 200 }], ['a', 'a', 'a', 'a', 'a'])).toEqual([
      500, 429, 429, 200, 200,
    ]);
  });

  it('prefers a step that matches, as often as it may', () => {
    const steps: Step[] = [{ status: 200 }, { match: { last_user: 'bad' }, times: 1, status: 400 }];
    expect(play(steps, ['bad', 'bad', 'good'])).toEqual([400, 200, 200]);
  });

  it('has nothing for requests that no step is for', () => {
    expect(play([{ match: { last_user: 'bad' }, status: 400 }], ['good'])).toEqual([undefined]);
  });

  it.each<[string, Step['match']]>([
    ['model', { model: 'm' }],
    ['body_has', { body_has: '"hello' }],
    ['raw_body_has', { raw_body_has: 'hello"' }],
    ['header', { header: { 'X-Mark': 'yes' } }],
    ['json', { json: { model: '*', messages: [{ role: 'user', content: 'hello' }], stream: null } }],
    ['json_not', { json_not: { model: 'other' } }],
    ['json_path_missing', { json_path_missing: 'messages[0].name' }],
  ])('matches by %s', (_, match) => {
    const script = new Script([{ match, status: 201 }]);
    expect(script.pick(asked('hello', { 'x-mark': 'yes' }) as never)?.status).toBe(201);
  });

  it.each<[string, Step['match']]>([
    ['model', { model: 'other' }],
    ['body_has', { body_has: 'goodbye' }],
    ['header', { header: { 'x-mark': 'no' } }],
    ['json', { json: { stream: '*' } }],
    ['json_not', { json_not: { model: 'm' } }],
    ['json_path_missing', { json_path_missing: 'messages[0].content' }],
  ])('does not match by another %s', (_, match) => {
    const script = new Script([{ match, status: 201 }]);
    expect(script.pick(asked('hello', { 'x-mark': 'yes' }) as never)).toBeNull();
  });

  it('refuses steps with unknown keys', () => {
    expect(parseSteps([{ status: 200 }])).toHaveLength(1);
    expect(() => parseSteps([{ sse_events: [] }])).toThrow(InvalidScript);
    expect(() => parseSteps('hang')).toThrow(InvalidScript);
  });
});

describe('scripted answers over HTTP', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator();
  });
  afterAll(() => simulator.close());
  afterEach(() => simulator.reset());

  const call = (path = '/chat/completions'): Promise<Response> =>
    fetch(simulator.url + path, { method: 'POST', body: JSON.stringify({ model: 'm', input: 'x', messages: [] }) });
  const text = async (step: Step): Promise<string> => {
    simulator.script('m', [step]);
    return (await call()).text();
  };

  it.each<[NonNullable<Step['frame']>, string]>([
    ['lf', 'data: {"a":1,"b":2}\n\ndata: [DONE]\n\n'],
    ['crlf', 'data: {"a":1,"b":2}\r\n\r\ndata: [DONE]\r\n\r\n'],
    ['cr', 'data: {"a":1,"b":2}\r\rdata: [DONE]\r\r'],
    ['nospace', 'data:{"a":1,"b":2}\n\ndata:[DONE]\n\n'],
    ['multiline', 'data: {"a":1,\ndata: "b":2}\n\ndata: [DONE]\n\n'],
  ])('frames events by %s, whatever the writes', async (frame, expected) => {
    expect(await text({ frame, sse: [{ a: 1, b: 2 }, '[DONE]'] })).toBe(expected);
    expect(await text({ frame, split: 1, sse: [{ a: 1, b: 2 }, '[DONE]'] })).toBe(expected);
  });

  it('writes raw bytes, drips and generated texts', async () => {
    expect(
      await text({
        sse: [
          { raw: ': x\n\n' },
          { b64: Buffer.from('é').toString('base64') },
          { drip: { count: 2, every_ms: 1, text: '.' } },
          { raw_gen: { prefix: '>', char: 'y', n: 3 } },
          { sleep: 1 },
        ],
      }),
    ).toBe(': x\n\né..>yyy');
    expect((await text({ sse: [{ gen_text: 5 }, { gen_chunks: 2 }] })).match(/"content":"(a{5}|x)"/g)).toHaveLength(3);
    expect(await text({ text_gen: { char: 'z', n: 70_000 } })).toHaveLength(70_000);
  });

  it('sends bodies in parts, and compressed', async () => {
    expect(await text({ body_parts: [{ text: '\n' }, { sleep: 5 }, { json: { ok: true } }] })).toBe('\n{"ok":true}');
    const noise = Array.from({ length: 20_000 }, (_, index) => Math.imul(index, 2_654_435_761)).join();
    expect(await text({ gzip: true, text: noise })).toBe(noise);
    expect(await text({ gzip: true, sse: [{ a: 1 }, '[DONE]'] })).toContain('[DONE]');
  });

  it('sends status and headers, dates relative to now', async () => {
    simulator.script('m', [{ status: 429, headers: { 'Retry-After': '@httpdate+2s', 'x-name': '模型' }, json: {} }]);
    const answer = await call();
    expect(answer.status).toBe(429);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('x-name')).toBe('??');
    const wait = Date.parse(answer.headers.get('retry-after') ?? '') - Date.now();
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(2000);
  });

  it('breaks off, hangs, and closes idle connections', async () => {
    simulator.script('m', [{ no_response: 'reset' }, { no_response: 'refuse' }, { text: 'half', end: 'reset' }]);
    await expect(call()).rejects.toThrow('fetch failed');
    await expect(call()).rejects.toThrow('fetch failed');
    await expect(call().then(answer => answer.text())).rejects.toThrow('terminated');

    simulator.script('m', [{ text: 'half', end: 'hang' }]);
    const reader = (await call()).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('half');
    expect(simulator.stats()['m']?.inflight).toBe(1);
    await reader?.cancel();

    simulator.script('m', [{ text: 'ok', keepalive_close_after_ms: 20 }]);
    await expect(connectionCloses()).resolves.toBe(true);
  });

  const connectionCloses = (): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const outgoing = request(`${simulator.url}/chat/completions`, { method: 'POST' }, answer => {
        answer.resume();
        outgoing.socket?.once('close', () => resolve(true));
      });
      outgoing.once('error', reject);
      outgoing.end(JSON.stringify({ model: 'm' }));
    });

  it('answers any path by the script of any model', async () => {
    simulator.script('*', [{ match: { model: 'm' }, status: 201 }, { status: 202 }]);
    expect((await call('/anything')).status).toBe(201);
    expect((await fetch(`${simulator.url}/collections`)).status).toBe(202);
    simulator.script('*', []);
    expect((await fetch(`${simulator.url}/collections`)).status).toBe(404);
  });

  it('embeds as usual where a step says so', async () => {
    simulator.script('m', [{ embed_ok: true, dim: 12 }]);
    const { data } = (await (await call('/embeddings')).json()) as { data: { embedding: number[] }[] };
    expect(data[0]?.embedding).toHaveLength(12);
  });

  it('logs who asked what', async () => {
    simulator.script('m', [{ text: 'ok' }]);
    await (await call()).text();
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(simulator.requests('m')).toMatchObject([
      { method: 'POST', url: '/v1/chat/completions', model: 'm', status: 200, finished: true },
    ]);
    expect(JSON.parse(simulator.requests('m')[0]?.body ?? '')).toMatchObject({ model: 'm' });
    expect(simulator.requests('other')).toEqual([]);
  });
});
