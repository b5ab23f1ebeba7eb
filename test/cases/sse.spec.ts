import OpenAI from 'openai';
import { ApiClient, until } from '../support/api-client';
import { inputsOf } from '../support/case-data';
import { completion, events, FINISH, stream, text, USAGE } from '../support/model-answers';
import type { Step } from '../support/upstream-step';
import { ask, startWorld, type World } from '../support/world';

const KIND = 'sse';

let world: World;
let client: ApiClient;

beforeAll(async () => {
  world = await startWorld({ cache: true, configuration: { server: { heartbeat_ms: 40 } } });
  ({ client } = world);
});
afterAll(() => world.stop());
beforeEach(() => world.fallback.script([stream('from fallback')]));

const stepOf = (id: string): Step => (inputsOf<{ step: Step }>(KIND, id) as [{ step: Step }])[0].step;

/** The official client, without retries of its own. */
const sdk = (): OpenAI => new OpenAI({ baseURL: `${world.gateway.url}/v1`, apiKey: 'KEY_A', maxRetries: 0 });

async function readWithSdk(question: string): Promise<string> {
  const chunks = await sdk().chat.completions.create({
    model: 'm-primary',
    messages: [{ role: 'user', content: question }],
    stream: true,
  });
  let said = '';
  for await (const chunk of chunks) said += chunk.choices[0]?.delta.content ?? '';
  return said;
}

describe('B01 reads every legal framing as it comes', () => {
  it.each(inputsOf<Step>(KIND, 'B01').map(({ frame, split }) => [frame, split] as const))(
    '%s, bytes per write: %s',
    async (frame, split) => {
      const framing = { ...(frame && { frame }), ...(split && { split }) };
      world.primary.script([events([text('po'), text('ng'), FINISH, USAGE, '[DONE]'], { ...framing, gap_ms: 60 })]);
      const body = ask(`framed ${frame} ${split}`, { stream_options: { include_usage: true } });
      const reply = await client.stream({ body });
      expect(reply.said).toBe('pong');
      expect(reply.chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 2 });
      expect(reply.events.filter(({ data }) => data === '[DONE]')).toHaveLength(1);
      const [first, last] = [reply.events.at(0), reply.events.at(-1)];
      expect((last?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(60);
    },
  );
});

it('B03 swallows keep-alive comments and pings of a provider', async () => {
  world.primary.script([stepOf('B03')]);
  const reply = await client.stream({ body: ask('comments') });
  expect(reply.said).toBe('pong');
  expect(reply.raw).not.toMatch(/^data: :/m);
  expect(reply.raw).not.toContain('OPENROUTER');
  world.primary.script([stepOf('B03')]);
  expect(await readWithSdk('comments, by the official client')).toBe('pong');
});

it('B04 sends heartbeats of its own that the official client reads over', async () => {
  const slow = events([text('a'), { sleep: 200 }, text('b'), FINISH, '[DONE]']);
  world.primary.script([slow, slow]);
  expect(await readWithSdk('slow, by the official client')).toBe('ab');
  const { raw } = await client.stream({ body: ask('slow') });
  expect(raw.match(/^: .*$/gm)?.length).toBeGreaterThanOrEqual(2);
  expect(raw).not.toMatch(/^id:/m);
  expect(raw).not.toMatch(/^: .*\n\n/m);
});

it('B07 completes a stream that only forgot to say [DONE], and keeps its answer', async () => {
  world.primary.script([events([text('pong'), FINISH], { end: 'close' })]);
  const first = await client.stream({ body: ask('no done') });
  expect(first.said).toBe('pong');
  expect(first.chunks.at(-1)?.choices?.[0]?.finish_reason).toBe('stop');
  expect(first.events.at(-1)?.data).toBe('[DONE]');
  expect(first.headers.get('x-spillway-outcome')).toBe('generated');
  const again = await client.send({ body: ask('no done') });
  expect([again.said, again.headers.get('x-spillway-cache')]).toEqual(['pong', 'HIT']);
  expect(world.primary.requests).toHaveLength(1);
});

describe('B08 an error as the first event of a 200', () => {
  beforeEach(() => world.primary.script([stepOf('B08')]));

  it('is a failure: the next model answers', async () => {
    const reply = await client.stream({ body: ask('early error') });
    expect([reply.status, reply.said]).toEqual([200, 'from fallback']);
    expect([world.primary.requests.length, world.fallback.requests.length]).toEqual([1, 1]);
    expect(reply.headers.get('x-spillway-attempts')).toBe('2');
  });

  it('is an error of HTTP where no other model is left, and is not kept', async () => {
    const failures = await client.metric('ai_request_total', { model: 'primary', status: '502' });
    const reply = await client.stream({ body: ask('early error', { model: 'alone' }) });
    expect(reply.status).toBe(502);
    expect(reply.headers.get('content-type')).toContain('application/json');
    expect(reply.body.error).toMatchObject({ code: 'upstream_error', param: null });
    expect(await client.metric('ai_request_total', { model: 'primary', status: '502' })).toBe(failures + 1);
    world.primary.script([stream('pong')]);
    expect((await client.stream({ body: ask('early error', { model: 'alone' }) })).said).toBe('pong');
  });
});

it('B11 takes a first chunk without choices for neither an answer nor the usage', async () => {
  world.primary.script([stepOf('B11')]);
  const reply = await client.stream({ body: ask('filter results first') });
  expect([reply.status, reply.said]).toEqual([200, 'pong']);
  expect(reply.chunks[0]).toMatchObject({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] });
});

it('B13 passes on two tool calls of one index as they came, and keeps them as two', async () => {
  world.primary.script([stepOf('B13')]);
  const reply = await client.stream({ body: ask('tools', { temperature: 0 }) });
  const sent = (stepOf('B13').sse ?? []).filter(item => item !== '[DONE]');
  expect(reply.chunks).toEqual(sent);
  const again = await client.send({ body: ask('tools', { temperature: 0 }) });
  const calls = again.body.choices?.[0]?.message?.tool_calls ?? [];
  const paths = calls.map(call => (JSON.parse(call.function?.arguments ?? '') as { path: string }).path);
  expect(again.headers.get('x-spillway-cache')).toBe('HIT');
  expect(paths).toEqual(['a', 'b']);
});

it('B14 ends the upstream call of a client that leaves in the middle, and blames nobody for it', async () => {
  const pieces = Array.from({ length: 50 }, (_, index) => text(String(index)));
  world.primary.script([events([...pieces, FINISH, '[DONE]'], { gap_ms: 60 }), stream('pong')]);
  const leaving = new AbortController();
  let seen = 0;
  const reading = client.stream(
    { body: ask('leave'), signal: leaving.signal, headers: { 'x-request-id': 'left' } },
    () => {
      if (++seen === 3) leaving.abort();
    },
  );
  await expect(reading).rejects.toThrow(/abort/i);
  const leftAt = Date.now();
  await until(() => world.primary.requests[0]?.closed_at != null);
  expect((world.primary.requests[0]?.closed_at ?? 0) - leftAt).toBeLessThan(2_000);
  expect(world.primary.requests[0]?.finished).toBe(false);
  await until(() => world.gateway.log.ofCall('left') !== undefined);
  expect(world.gateway.log.ofCall('left')).toMatchObject({ outcome: 'client-gone', status: 200, model: 'primary' });
  await until(async () => (await client.metric('spillway_model_inflight', { model: 'primary' })) === 0);
  expect(await client.metric('spillway_requests_total', { outcome: 'client-gone' })).toBe(1);
  expect((await client.stream({ body: ask('leave') })).headers.get('x-spillway-cache')).toBe('MISS');
});

it('B17 lets tokens through one by one, and tells proxies to do the same', async () => {
  const pieces = Array.from({ length: 10 }, (_, index) => text(String(index)));
  world.primary.script([events([...pieces, FINISH, '[DONE]'], { gap_ms: 40 })]);
  const reply = await client.stream({ body: ask('one by one'), headers: { 'accept-encoding': 'gzip, br' } });
  expect((reply.events.at(-1)?.at ?? 0) - (reply.events[0]?.at ?? 0)).toBeGreaterThan(200);
  expect(reply.headers.get('content-type')).toContain('text/event-stream');
  expect(reply.headers.get('cache-control')).toContain('no-cache');
  expect(reply.headers.get('cache-control')).toContain('no-transform');
  expect(reply.headers.get('x-accel-buffering')).toBe('no');
  expect(reply.headers.has('content-encoding')).toBe(false);
  expect(reply.headers.has('content-length')).toBe(false);
});

describe('B20 an answer of the other kind than asked for', () => {
  it('is one JSON body for a caller that asked for one', async () => {
    world.primary.script([stream('po', 'ng')]);
    const reply = await client.send({ body: ask('other kind, whole') });
    expect(reply.headers.get('content-type')).toContain('application/json');
    expect(reply.said).toBe('pong');
    expect(reply.body).toMatchObject({ object: 'chat.completion', usage: { total_tokens: 7 } });
    expect(reply.raw).not.toContain('data:');
  });

  it('is a stream for a caller that asked for one', async () => {
    world.primary.script([completion('pong')]);
    const reply = await client.stream({ body: ask('other kind, streamed') });
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    expect(reply.said).toBe('pong');
    expect(reply.chunks.every(({ object }) => object === 'chat.completion.chunk')).toBe(true);
    expect(reply.events.at(-1)?.data).toBe('[DONE]');
  });
});
