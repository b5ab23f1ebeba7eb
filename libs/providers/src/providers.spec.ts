import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock, type AnswerPart, type JsonObject, type ModelSettings } from '@spillway/contracts';
import { startUpstream, type Upstream } from '../../../test/support/scripted-upstream';
import { modelAt } from '../../../test/support/upstream-models';
import type { Step } from '../../../test/support/upstream-step';
import { Providers } from './providers';
import type { FailureKind } from './upstream-failure';

const MESSAGES = [{ role: 'user', content: 'ping' }];
const WHOLE = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'real-primary',
  choices: [{ index: 0, message: { role: 'assistant', content: 'pong' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
};
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'real-primary',
  choices: [{ index: 0, delta, finish_reason }],
});
const PO = chunk({ content: 'po' });
const NG = chunk({ content: 'ng' });
const FINISH = chunk({}, 'stop');
const USAGE = { id: 'c1', choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } };
const SSE = { 'content-type': 'text/event-stream' };

let upstream: Upstream;
let providers: Providers;

beforeAll(async () => {
  upstream = await startUpstream([]);
});
afterAll(() => upstream.close());
beforeEach(() => {
  providers = new Providers(new SystemClock(), { note: () => undefined });
});
afterEach(() => providers.onApplicationShutdown());

interface Asked {
  readonly streaming?: boolean;
  readonly model?: ModelSettings;
  readonly signal?: AbortSignal;
  readonly body?: JsonObject;
}

async function parts(asked: Asked = {}): Promise<AnswerPart[]> {
  const { streaming = false, model = modelAt(upstream.url), body = { model: 'a', messages: MESSAGES } } = asked;
  const signal = asked.signal ?? new AbortController().signal;
  const answer = await providers.chat(model, body, { streaming, signal, headers: { 'x-request-id': 'r-1' } });
  const all: AnswerPart[] = [];
  for await (const part of answer.parts) all.push(part);
  return all;
}

function textOf(all: readonly AnswerPart[]): string {
  const said = all.flatMap(({ body }) => body['choices'] as { delta?: { content?: string } }[]);
  return said.map(choice => choice.delta?.content ?? '').join('');
}

const failing = (kind: FailureKind, more: object = {}) => expect.objectContaining({ kind, ...more }) as Error;

describe('a chat call', () => {
  it('sends the body for the model with its key, and hands on the answer as it is', async () => {
    const text = JSON.stringify(WHOLE, null, 2);
    upstream.script([{ text, headers: { 'content-type': 'application/json', 'X-RateLimit-Remaining': '7' } }]);
    const answer = await providers.chat(
      modelAt(upstream.url, { provider: { headers: { 'api-version': '2' } } }),
      { model: 'a', messages: MESSAGES, service_tier: 'flex' },
      { streaming: false, signal: new AbortController().signal, headers: { 'x-request-id': 'r-1' } },
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('7');
    for await (const part of answer.parts) expect(part).toEqual({ kind: 'whole', json: text, body: WHOLE });
    expect(upstream.requests[0]).toMatchObject({
      method: 'POST',
      url: '/v1/chat/completions',
      headers: {
        authorization: 'Bearer UPSTREAM_KEY_1',
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        'api-version': '2',
        'x-request-id': 'r-1',
      },
    });
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toEqual({ model: 'real-primary', messages: MESSAGES });
  });

  it('sends what is configured for the provider, whatever a caller sends by the same name', async () => {
    upstream.script([{ json: WHOLE }]);
    const model = modelAt(upstream.url, { provider: { headers: { 'X-Tenant': 'ours' } } });
    const headers = { 'x-tenant': 'theirs', 'x-other': 'theirs' };
    const options = { streaming: false, signal: new AbortController().signal, headers };
    const answer = await providers.chat(model, { model: 'a', messages: MESSAGES }, options);
    for await (const part of answer.parts) void part;
    expect(upstream.requests[0]?.headers).toMatchObject({ 'x-tenant': 'ours', 'x-other': 'theirs' });
  });

  it.each(['constructor', 'zstd', ' identity'])(
    'reads an answer whose encoding it does not know as it is: %s',
    async name => {
      upstream.script([{ json: WHOLE, headers: { 'content-type': 'application/json', 'content-encoding': name } }]);
      expect((await parts({})).map(({ body }) => body)).toEqual([WHOLE]);
    },
  );

  it('sends no key where none is configured', async () => {
    upstream.script([{ json: WHOLE }]);
    await parts({ model: modelAt(upstream.url, { provider: { api_key: undefined } }) });
    expect(upstream.requests[0]?.headers['authorization']).toBeUndefined();
  });

  it('goes to an address with a query, and tells nobody what its keys are', async () => {
    upstream.script([
      { json: WHOLE },
      { status: 400, json: { error: { message: 'not key-0123456789 for 2024-10-21' } } },
    ]);
    const base_url = `${upstream.url}/deployments/d/?api-version=2024-10-21&code=key-0123456789`;
    const model = modelAt(upstream.url, { provider: { base_url } });
    await parts({ model });
    expect(upstream.requests[0]?.url).toBe(
      '/deployments/d/chat/completions?api-version=2024-10-21&code=key-0123456789',
    );
    await expect(parts({ model })).rejects.toMatchObject({
      answer: { text: expect.stringContaining('not [redacted] for 2024-10-21') as string },
    });
  });

  it('passes a refusal on without the address it came from', async () => {
    const { host } = new URL(upstream.url);
    upstream.script([
      { status: 400, json: { error: { message: `no such thing at http://${host}/v1, dial ${host}: no` } } },
    ]);
    await expect(parts()).rejects.toMatchObject({
      answer: { text: expect.stringContaining('no such thing at [redacted]/v1, dial [redacted]: no') as string },
    });
  });

  it('uses a socket again', async () => {
    upstream.script([{ json: WHOLE }, { sse: [PO, FINISH, '[DONE]'] }, { json: WHOLE }]);
    await parts();
    await sleep(10);
    await parts({ streaming: true });
    await sleep(10);
    await parts();
    expect(new Set(upstream.requests.map(({ port }) => port)).size).toBe(1);
  });

  it.each<[string, Step]>([
    ['is gzipped unasked', { json: WHOLE, gzip: true }],
    ['follows white space', { body_parts: [{ text: '\n' }, { sleep: 30 }, { text: '\n\n' }, { json: WHOLE }] }],
    ['follows a byte order mark', { text: `\ufeff${JSON.stringify(WHOLE)}` }],
    ['comes byte by byte', { json: WHOLE, split: 1 }],
    ['comes though a stream was asked for', { json: WHOLE }],
  ])('reads a body that %s', async (name, step) => {
    upstream.script([step]);
    const all = await parts({ streaming: name.includes('stream') });
    expect(all).toEqual([{ kind: 'whole', json: JSON.stringify(WHOLE), body: WHOLE }]);
  });

  it.each<[FailureKind, string, Step]>([
    ['empty', 'nothing but blanks', { body_parts: [{ text: '\n\n\n' }] }],
    ['empty', 'nothing', { status: 204 }],
    ['empty', 'no choices', { json: { ...WHOLE, choices: [] } }],
    ['empty', 'blank content', { json: { choices: [{ message: { content: ' \n' }, finish_reason: 'stop' }] } }],
    ['empty', 'no content', { json: { choices: [{ message: { content: null }, finish_reason: 'stop' }] } }],
    ['protocol', 'half an answer', { text: '{"choices":[' }],
    ['protocol', 'a page', { text: '<html></html>', headers: { 'content-type': 'text/html' } }],
    ['protocol', 'bytes that are not gzip', { json: WHOLE, headers: { 'content-encoding': 'gzip' } }],
    ['protocol', 'a redirection', { status: 307, headers: { location: '/elsewhere' } }],
    ['server', 'an error', { json: { error: { code: 500, message: 'x' } } }],
    ['network', 'less than it promised', { text: '{"id"', headers: { 'content-length': '500' }, end: 'reset' }],
    ['network', 'a broken connection', { no_response: 'reset' }],
  ])('fails as %s on %s', async (kind, _name, step) => {
    upstream.script([step]);
    await expect(parts()).rejects.toEqual(failing(kind));
    expect(upstream.requests).toHaveLength(1);
  });

  it.each([
    [{ content: '', tool_calls: [{ id: 'a' }] }, 'tool_calls'],
    [{ content: null, refusal: 'No.' }, 'stop'],
    [{ content: '', reasoning_content: 'hm' }, 'stop'],
    [{ content: '' }, 'length'],
    [{ content: '' }, 'content_filter'],
  ])('takes %j that ended by %s for an answer', async (message, finish_reason) => {
    upstream.script([{ json: { choices: [{ message, finish_reason }] } }]);
    await expect(parts()).resolves.toHaveLength(1);
  });

  it('fails where nobody listens', async () => {
    await expect(parts({ model: modelAt('http://127.0.0.1:1') })).rejects.toEqual(
      failing('network', { status: null, message: 'The connection to the model failed (ECONNREFUSED).' }),
    );
  });

  it('classifies a refusal and keeps the beginning of its body', async () => {
    const body = { error: { message: 'bad UPSTREAM_KEY_1', type: 'invalid_request_error', param: null, code: null } };
    upstream.script([
      { status: 422, json: body, gzip: true },
      { status: 400, text_gen: { char: 'x', n: 10_000_000 } },
      { status: 502, text: '<html>key=sk-secret</html>', headers: { 'content-type': 'text/html' } },
      { status: 429, json: { status: 429, error: 'INSUFFICIENT QUOTA' }, headers: { 'retry-after': '2' } },
    ]);
    await expect(parts()).rejects.toEqual(
      failing('caller-fault', {
        answer: {
          status: 422,
          text: JSON.stringify(body).replace('UPSTREAM_KEY_1', '[redacted]'),
          contentType: 'application/json',
        },
      }),
    );
    await expect(parts()).rejects.toEqual(failing('caller-fault', { status: 400 }));
    await expect(parts({ streaming: true })).rejects.toEqual(failing('server', { status: 502 }));
    await expect(parts()).rejects.toEqual(failing('rate-limit', { retryAfterMs: 2000 }));
  });
});

describe('a stream', () => {
  it.each<[string, Partial<Step>]>([
    ['CRLF', { frame: 'crlf' }],
    ['CR', { frame: 'cr' }],
    ['no space', { frame: 'nospace' }],
    ['several lines', { frame: 'multiline' }],
    ['CRLF, byte by byte', { frame: 'crlf', split: 1 }],
    ['gzip', { gzip: true }],
    ['no content type', { headers: {} }],
  ])('is read with %s', async (_name, step) => {
    upstream.script([{ headers: SSE, sse: [PO, NG, FINISH, USAGE, '[DONE]'], ...step }]);
    const all = await parts({ streaming: true });
    expect(all.map(({ body }) => body)).toEqual([PO, NG, FINISH, USAGE]);
    expect(all.map(({ json }) => json)).toEqual([PO, NG, FINISH, USAGE].map(body => JSON.stringify(body)));
    expect(all.every(({ kind }) => kind === 'chunk')).toBe(true);
  });

  it('comes chunk by chunk, characters cut in half included', async () => {
    upstream.script([{ headers: SSE, sse: [chunk({ content: '你😀' }), FINISH, '[DONE]'], split: 1, gap_ms: 200 }]);
    const answer = await providers.chat(
      modelAt(upstream.url),
      { messages: MESSAGES },
      { streaming: true, signal: new AbortController().signal, headers: {} },
    );
    const iterator = answer.parts[Symbol.asyncIterator]();
    const first = await iterator.next();
    expect(textOf([first.value as AnswerPart])).toBe('你😀');
    expect(upstream.requests[0]?.closed_at).toBeNull();
    while (!(await iterator.next()).done);
  });

  it('is read although nobody asked for one', async () => {
    upstream.script([{ headers: SSE, sse: [PO, NG, FINISH, '[DONE]'] }]);
    expect(textOf(await parts())).toBe('pong');
  });

  it('may hold comments, pings and chunks without choices', async () => {
    const ping = { raw: ':\n\nevent: ping\ndata: {}\n\n' };
    const filter = { id: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
    upstream.script([
      { headers: SSE, sse: [{ raw: ': WAIT\n\n: WA' }, { raw: 'IT\n\n' }, filter, PO, ping, NG, FINISH, '[DONE]'] },
    ]);
    const all = await parts({ streaming: true });
    expect(all.map(({ body }) => body)).toEqual([filter, PO, NG, FINISH]);
  });

  it('keeps two calls of tools that share an index', async () => {
    const call = (id: string) => chunk({ tool_calls: [{ index: 0, id, function: { name: 'f', arguments: '{}' } }] });
    const events = [call('a'), call('b'), chunk({}, 'tool_calls')];
    upstream.script([{ headers: SSE, sse: [...events, '[DONE]'] }]);
    expect((await parts({ streaming: true })).map(({ body }) => body)).toEqual(events);
  });

  it.each<[string, Step]>([
    ['its end', { sse: [PO, NG, FINISH], end: 'close' }],
    ['a reset', { sse: [PO, NG, FINISH], end: 'reset' }],
    ['half an event', { sse: [PO, NG, FINISH, { raw: 'data: {"id"' }] }],
  ])('is complete with a finish_reason, though [DONE] gave way to %s', async (_name, step) => {
    upstream.script([{ headers: SSE, ...step }]);
    expect(textOf(await parts({ streaming: true }))).toBe('pong');
  });

  it('is complete only when all its choices are', async () => {
    const second = { ...PO, choices: [{ index: 1, delta: { content: 'x' }, finish_reason: null }] };
    upstream.script([{ headers: SSE, sse: [PO, second, FINISH] }]);
    await expect(parts({ streaming: true })).rejects.toEqual(failing('truncated'));
  });

  it.each<[FailureKind, string, Step]>([
    ['truncated', 'an end without finish_reason', { sse: [PO, NG] }],
    ['truncated', '[DONE] without finish_reason', { sse: [PO, NG, '[DONE]'] }],
    ['truncated', 'an end within an event', { sse: [PO, { raw: 'data: {"id":"c1","cho' }] }],
    ['network', 'a reset', { sse: [PO, NG], end: 'reset' }],
    ['empty', 'no event at all', { sse: [{ raw: ': nothing\n\n' }] }],
    ['empty', 'only [DONE]', { sse: ['[DONE]'] }],
    ['empty', 'no content', { sse: [chunk({ role: 'assistant', content: '' }), FINISH, '[DONE]'] }],
    ['protocol', 'an event that is not JSON', { sse: [PO, { raw: 'data: oops\n\n' }, FINISH] }],
    ['protocol', 'an event without end', { sse: [{ raw_gen: { prefix: 'data: ', char: 'x', n: 9_000_000 } }] }],
    ['server', 'an error as its first event', { sse: [{ error: { code: 502, message: 'x' }, choices: [] }, '[DONE]'] }],
    ['stream-error', 'an error in its middle', { sse: [PO, { error: { message: 'x' } }, '[DONE]'] }],
    ['context-length', 'an error with a code', { sse: [{ error: { code: 'context_length_exceeded' } }, '[DONE]'] }],
  ])('fails as %s on %s', async (kind, _name, step) => {
    upstream.script([{ headers: SSE, ...step }]);
    await expect(parts({ streaming: true })).rejects.toEqual(failing(kind));
  });
});

describe('a call of embeddings', () => {
  const ask = async (): Promise<JsonObject[]> => {
    const options = { signal: new AbortController().signal, headers: {} };
    const answer = await providers.embeddings(modelAt(upstream.url), { model: 'e', input: ['a'] }, options);
    const bodies: JsonObject[] = [];
    for await (const part of answer.parts) bodies.push(part.body);
    return bodies;
  };

  it('hands on what was asked and answered', async () => {
    upstream.script([{ embed_ok: true, dim: 4 }]);
    expect(await ask()).toEqual([expect.objectContaining({ object: 'list' })]);
    expect(upstream.requests[0]?.url).toBe('/v1/embeddings');
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toEqual({ model: 'real-primary', input: ['a'] });
  });

  it('fails without vectors', async () => {
    upstream.script([{ json: { object: 'list', data: [] } }, { headers: SSE, sse: ['[DONE]'] }]);
    await expect(ask()).rejects.toEqual(failing('empty'));
    await expect(ask()).rejects.toEqual(failing('protocol'));
  });
});
