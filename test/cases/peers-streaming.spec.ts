import OpenAI from 'openai';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, until } from '../support/api-client';
import { completion, events, FINISH, refusal, stream, text } from '../support/model-answers';
import type { Step } from '../support/upstream-step';
import { ask, startWorld, type World } from '../support/world';

let world: World;
let client: ApiClient;

beforeAll(async () => {
  world = await startWorld({
    model: { limits: { inflight: 5 }, headroom: 0, timeout_ms: 5_000, climb: { mode: 'off' } },
  });
  ({ client } = world);
});
afterAll(() => world.stop());
beforeEach(() => world.fallback.script([stream('from fallback')]));

const calls = (): number[] => [world.primary.requests.length, world.fallback.requests.length];

describe('rows 72 and 74: until the first content a stream can still become another', () => {
  const role = { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] };
  const beginnings: [string, Step][] = [
    ['nothing', events([], { end: 'reset' })],
    ['a role', events([role], { end: 'reset' })],
    ['a role, then an error', events([role, { error: { message: 'overloaded', type: 'overloaded_error' } }])],
    ['a role, then the end', events([role, '[DONE]'])],
    ['a comment', events([{ raw: ': wait\n\n' }], { end: 'close' })],
  ];

  it.each(beginnings)('after %s', async (_, step) => {
    world.primary.script([step]);
    const reply = await client.stream({ body: ask('hi') });
    expect([reply.status, reply.said]).toEqual([200, 'from fallback']);
    expect(reply.chunks.some(({ error }) => error !== undefined)).toBe(false);
    expect(reply.headers.get('x-spillway-model')).toBe('fallback');
  });

  it('no status is sent before it, so that failing altogether is an error of HTTP', async () => {
    world.primary.script([events([role], { end: 'reset' })]);
    world.fallback.script([{ ...refusal(500), ttfb_ms: 50 }]);
    const reply = await client.stream({ body: ask('hi') });
    expect(reply.status).toBe(502);
    expect(reply.headers.get('content-type')).toContain('application/json');
  });
});

describe('rows 73, 75 and 77: after the first content there is no way back', () => {
  const breaks: [string, Step, string][] = [
    ['the connection breaks', events([text('so '), text('far')], { end: 'reset' }), 'upstream_error'],
    ['the stream ends without a reason', events([text('so '), text('far')]), 'upstream_error'],
    ['it says it is done without a reason', events([text('so '), text('far'), '[DONE]']), 'upstream_error'],
    [
      'an error comes',
      events([text('so '), text('far'), { error: { message: 'at Object.<anonymous> (/app/secret.js:1)', code: 500 } }]),
      'upstream_error',
    ],
    [
      'a limit of rate comes',
      events([text('so '), text('far'), { error: { message: 'slow down', code: 'rate_limit_exceeded' } }]),
      'no_model_available',
    ],
    [
      'a chunk is garbled',
      events([text('so '), text('far'), { raw: 'data: {"choices": [{"del\n\n' }, FINISH]),
      'upstream_error',
    ],
  ];

  it.each(breaks)('when %s the stream ends with one error, and no other model is asked', async (_, step, code) => {
    world.primary.script([step]);
    const reply = await client.stream({ body: ask('hi') });
    expect([reply.status, reply.said, calls()]).toEqual([200, 'so far', [1, 0]]);
    const errors = reply.chunks.filter(({ error }) => error !== undefined);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toEqual(reply.chunks.at(-1));
    expect(errors[0]?.error).toMatchObject({ code, param: null });
    expect(reply.raw).not.toMatch(/secret\.js|at Object|finish_reason":"/);
    expect(reply.events.some(({ data }) => data === '[DONE]')).toBe(false);
  });

  it('an official client is told by an exception', async () => {
    const sdk = new OpenAI({ baseURL: `${world.gateway.url}/v1`, apiKey: 'KEY_A', maxRetries: 0 });
    world.primary.script([events([text('so far')], { end: 'reset' })]);
    const chunks = await sdk.chat.completions.create({
      model: 'm-primary',
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
    });
    let said = '';
    const reading = (async () => {
      for await (const chunk of chunks) said += chunk.choices[0]?.delta.content ?? '';
    })();
    await expect(reading).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(said).toBe('so far');
  });
});

describe('rows 78 and 80: a caller that leaves', () => {
  const slow: [string, Step, boolean][] = [
    ['before any answer, whole', { ...completion('late'), ttfb_ms: 3_000 }, false],
    ['before any answer, streamed', { ...stream('late'), ttfb_ms: 3_000 }, true],
    ['before the first token', events([{ raw: ': wait\n\n' }, { sleep: 3_000 }, text('late'), FINISH]), true],
    [
      'in the middle of a whole answer',
      {
        headers: { 'content-type': 'application/json' },
        body_parts: [{ text: '{"id":' }, { sleep: 3_000 }, { text: '1}' }],
      },
      false,
    ],
  ];

  it.each(slow)('%s: the call of the model ends with it, and its place is free', async (_, step, streaming) => {
    world.primary.script([step]);
    const before = await client.metric('spillway_requests_total', { outcome: 'client-gone' });
    const { signal, abort } = leaving();
    const request = { body: ask('hi'), signal };
    const call = (streaming ? client.stream(request) : client.send(request)).catch(() => null);
    await until(() => world.primary.requests.length === 1);
    await sleep(30);
    const leftAt = Date.now();
    abort();
    await call;
    await until(() => world.primary.requests[0]?.closed_at != null);
    expect((world.primary.requests[0]?.closed_at ?? 0) - leftAt).toBeLessThan(1_500);
    await until(async () => (await client.metric('spillway_model_inflight', { model: 'primary' })) === 0);
    expect(await client.metric('spillway_requests_total', { outcome: 'client-gone' })).toBe(before + 1);
    expect(calls()).toEqual([1, 0]);
  });

  it('many times over: every place is free again', async () => {
    const urgent = { body: ask('hi', { model: 'alone' }), path: '/critical/v1/chat/completions' };
    const underWay = (): Promise<number> => client.metric('spillway_model_inflight');
    world.primary.script([{ no_response: 'hang' }]);
    for (let round = 0; round < 4; round++) {
      const { signal, abort } = leaving();
      const all = Array.from({ length: 8 }, () => client.send({ ...urgent, signal }).catch(() => null));
      await until(async () => (await underWay()) === 5);
      abort();
      await Promise.all(all);
      await until(async () => (await underWay()) === 0);
    }
    world.primary.script([completion('pong')]);
    const replies = await Promise.all(Array.from({ length: 5 }, () => client.send(urgent)));
    expect(replies.map(({ said }) => said)).toEqual(replies.map(() => 'pong'));
    await until(async () => (await underWay()) === 0);
  });
});

function leaving(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

it('row 78: a stream that is read slowly does not grow in memory, nor hold up others', async () => {
  const flood = Array.from({ length: 100 }, () => ({ gen_text: 1_000_000 }));
  world.primary.script([events([...flood, FINISH, '[DONE]']), stream('quick')]);
  const response = await fetch(`${world.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer KEY_A', 'content-type': 'application/json' },
    body: JSON.stringify(ask('flood', { stream: true })),
  });
  const reader = response.body?.getReader();
  await reader?.read();
  // More than all buffers of the system hold, and time enough to read it all.
  await sleep(1_500);
  expect(world.primary.requests[0]?.finished).toBe(false);
  expect((await client.stream({ body: ask('quick') })).said).toBe('quick');
  await reader?.cancel();
  await until(() => world.primary.requests[0]?.closed_at != null);
});
