import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { inputsOf } from '../support/case-data';
import { completion, refusal, stream } from '../support/model-answers';
import { ask, startWorld, type World } from '../support/world';

const KIND = 'request-body';
const BODY_LIMIT = 3_000_000;
const HASH_OF_IMAGE = /"url":"data:image\/png;base64,([^"]+)"/;

let world: World;

beforeAll(async () => {
  world = await startWorld({ configuration: { server: { body_limit: BODY_LIMIT } } });
});
afterAll(() => world.stop());
beforeEach(() => {
  world.primary.script([completion('pong')]);
  world.fallback.script([completion('from fallback')]);
});

const sentUpstream = (index = 0): Record<string, unknown> =>
  JSON.parse(world.primary.requests[index]?.body ?? '{}') as Record<string, unknown>;

it('A01 keeps an assistant turn whose content is null and its tool calls', async () => {
  const [{ body }] = inputsOf<{ body: { messages: unknown } }>(KIND, 'A01') as [{ body: { messages: unknown } }];
  const reply = await world.client.send({ body });
  expect(reply.status).toBe(200);
  expect(world.primary.requests).toHaveLength(1);
  expect(sentUpstream()['messages']).toEqual(body.messages);
});

describe('A03 half an emoji', () => {
  it('reaches the model as well-formed text, and whole ones stay whole', async () => {
    const [{ raw }] = inputsOf<{ raw: string }>(KIND, 'A03') as [{ raw: string }];
    world.primary.script([{ match: { raw_body_has: '\\ud83d"' }, ...refusal(400) }, completion('pong')]);
    const reply = await world.client.send({ body: raw });
    expect(reply.status).toBe(200);
    const sent = world.primary.requests[0]?.body ?? '';
    expect(sent).not.toMatch(/\\ud[89a-f]/i);
    expect(sent).toContain('🚀');
    expect((JSON.parse(sent) as { messages: [{ content: string }] }).messages[0].content.isWellFormed()).toBe(true);
  });

  it.each([19, 20, 999, 1000])('is never made by cutting a text before unit %i', async position => {
    const content = `${'x'.repeat(position)}🚀${'y'.repeat(50)}`;
    world.primary.script([completion(content)]);
    const reply = await world.client.send({ body: ask(content), headers: { 'x-request-id': `cut-${position}` } });
    expect(reply.said).toBe(content);
    expect(sentUpstream()['messages']).toEqual([{ role: 'user', content }]);
    const { response_snippet: snippet } = world.gateway.log.ofCall(`cut-${position}`) as { response_snippet: string };
    expect(snippet.isWellFormed()).toBe(true);
  });
});

describe('A04 max_tokens and max_completion_tokens', () => {
  const [one, two, both] = inputsOf<{ body: object }>(KIND, 'A04') as [
    { body: object },
    { body: object },
    { body: object },
  ];

  it('are refused by the model, not retried, and the refusal is passed on', async () => {
    world.primary.script([refusal(400, 'unsupported_parameter')]);
    const reply = await world.client.send(one);
    expect([reply.status, reply.body.error?.code]).toEqual([400, 'unsupported_parameter']);
    expect([world.primary.requests.length, world.fallback.requests.length]).toEqual([1, 0]);
    expect(reply.headers.get('x-should-retry')).toBe('false');
  });

  it.each([
    ['one', two, { max_completion_tokens: 16 }],
    ['both', both, { max_tokens: 16, max_completion_tokens: 32 }],
  ])('are forwarded as sent: %s', async (_, input, expected) => {
    await world.client.send(input);
    const { max_tokens, max_completion_tokens } = sentUpstream();
    expect({ max_tokens, max_completion_tokens }).toEqual({ max_tokens: undefined, ...expected });
  });
});

describe('A06 large images', () => {
  const picture = (bytes: number): { body: object; base64: string } => {
    const base64 = Buffer.alloc((bytes * 3) / 4, createHash('sha512').update('picture').digest()).toString('base64');
    const image_url = { url: `data:image/png;base64,${base64}` };
    return {
      body: ask([
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url },
      ]),
      base64,
    };
  };

  it('arrive byte for byte, are kept out of the log, and hold nobody up', async () => {
    const { body, base64 } = picture(1_500_000);
    const lines = world.gateway.log.lines.length;
    const sending = world.client.send({ body });
    const health = await world.client.get('/health');
    expect(health.took).toBeLessThan(4_000);
    expect((await sending).status).toBe(200);
    const arrived = HASH_OF_IMAGE.exec(world.primary.requests[0]?.body ?? '')?.[1] ?? '';
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
    expect(hash(arrived)).toBe(hash(base64));
    expect(JSON.stringify(world.gateway.log.lines.slice(lines))).not.toMatch(/[A-Za-z0-9+/]{200}/);
  });

  it('over the limit are refused as 413 in JSON, and no model hears of them', async () => {
    const reply = await world.client.send({ body: picture(BODY_LIMIT + 1_000_000).body });
    expect(reply.status).toBe(413);
    expect(reply.body.error).toMatchObject({ code: 'request_too_large', type: 'invalid_request_error', param: null });
    await sleep(50);
    expect(world.primary.requests).toHaveLength(0);
  });

  it.each([
    ['of a known key', 413, 'request_too_large', { authorization: 'Bearer KEY_A' }],
    ['of an unknown one', 401, 'invalid_api_key', { authorization: 'Bearer nobody' }],
  ])('are refused to clients as well that send all before they listen, and then hang up: %s', async (...row) => {
    const [, status, code, headers] = row;
    const sending = request(`${world.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', connection: 'close' },
    });
    const failures: Error[] = [];
    sending.on('error', failure => failures.push(failure));
    const closed = new Promise(resolve => sending.once('close', resolve));
    sending.end(JSON.stringify(picture(BODY_LIMIT + 3_000_000).body));
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    const text = (await response.setEncoding('utf8').toArray()).join('');
    await closed;
    expect([response.statusCode, failures]).toEqual([status, []]);
    expect(text).toContain(code);
  });
});

describe('A08 the usage chunk', () => {
  it.each([
    ['not when unasked', {}, false],
    ['not when declined', { stream_options: { include_usage: false } }, false],
    ['when asked for, once, before the end', { stream_options: { include_usage: true } }, true],
  ])('comes %s, and is counted all the same', async (_, more, wanted) => {
    world.primary.script([stream('po', 'ng')]);
    const before = await world.client.metric('ai_token_consumed_total', { model: 'primary' });
    const reply = await world.client.stream({ body: ask('ping', more) });
    expect(reply.said).toBe('pong');
    const usageChunks = reply.chunks.filter(({ choices }) => choices?.length === 0);
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    expect(usageChunks.map(chunk => chunk.usage)).toEqual(wanted ? [usage] : []);
    expect(reply.chunks.at(-1)?.choices?.length).toBe(wanted ? 0 : 1);
    expect(reply.events.at(-1)?.data).toBe('[DONE]');
    expect(await world.client.metric('ai_token_consumed_total', { model: 'primary' })).toBe(before + 7);
  });
});

describe('A11 the preflight of a browser', () => {
  const asked = [
    'authorization,content-type,x-stainless-os,x-stainless-lang,x-stainless-arch,x-stainless-runtime',
    'x-stainless-runtime-version,x-stainless-package-version,x-stainless-retry-count,x-stainless-timeout',
  ].join(',');
  const preflight = {
    origin: 'https://app.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': asked,
  };

  it('is answered without a key and allows every header, where cross-origin calls are on', async () => {
    const open = await startWorld({ configuration: { server: { cors: true } } });
    const reply = await open.client.request('OPTIONS', '/v1/chat/completions', preflight);
    const call = await open.client.send({ body: ask('hi'), headers: { origin: 'https://app.example' } });
    await open.stop();
    expect([200, 204]).toContain(reply.status);
    expect(reply.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/app\.example)$/);
    const allowed = (reply.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/\s*,\s*/);
    expect(allowed).toEqual(expect.arrayContaining(asked.split(',')));
    const methods = (reply.headers.get('access-control-allow-methods') ?? '').split(/\s*,\s*/);
    expect(methods).toEqual(expect.arrayContaining(['GET', 'POST', 'DELETE']));
    expect(open.primary.requests).toHaveLength(1);
    expect(call.headers.get('access-control-allow-origin')).not.toBeNull();
  });

  it('allows nothing where they are off', async () => {
    const reply = await world.client.request('OPTIONS', '/v1/chat/completions', preflight);
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
    const call = await world.client.send({ body: ask('hi'), headers: { origin: 'https://app.example' } });
    expect(call.headers.get('access-control-allow-origin')).toBeNull();
  });
});
