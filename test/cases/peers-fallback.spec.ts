import { configStore } from '../support/settings';
import { ApiClient, type Reply } from '../support/api-client';
import { completion, events, FINISH, refusal, stream, text } from '../support/model-answers';
import { freePort } from '../support/redis-server';
import type { Step } from '../support/upstream-step';
import { ask, startWorld, worldConfiguration, type World } from '../support/world';

let world: World;
let client: ApiClient;

/** Anew for each case: a model that asked to be left alone would be left alone by the next one. */
beforeEach(async () => {
  const nowhere = { base_url: `http://127.0.0.1:${await freePort()}/v1` };
  const unknown = { base_url: 'http://no-such-host.invalid/v1' };
  world = await startWorld({
    model: { timeout_ms: 600, first_token_timeout_ms: 500, climb: { mode: 'off' } },
    configuration: {
      providers: { nowhere, unknown },
      models: { nowhere: { provider: 'nowhere' }, unknown: { provider: 'unknown' } },
      routes: {
        'm-primary': { chain: ['primary', 'fallback'], cache: { exact: false, semantic: false } },
        four: { chain: ['nowhere', 'primary', 'unknown', 'fallback'], cache: { exact: false, semantic: false } },
      },
    },
  });
  ({ client } = world);
  world.primary.script([completion('pong')]);
  world.fallback.script([completion('from fallback')]);
});
afterEach(() => world.stop());

const calls = (): number[] => [world.primary.requests.length, world.fallback.requests.length];
const told = (reply: Reply): unknown[] => [reply.status, reply.said];
const send = (model = 'm-primary', more: object = {}): Promise<Reply> =>
  client.send({ body: ask('hi', { model, ...more }) });

describe('rows 39 and 41: when a provider wants to be asked again', () => {
  it.each([429, 503, 529, 500, 502, 504])('is passed on in the names clients know: %i', async status => {
    world.primary.script([{ ...refusal(status), headers: { 'retry-after': '7' } }]);
    const reply = await send('alone');
    expect(reply.headers.get('retry-after')).toBe('7');
    expect(reply.headers.get('retry-after-ms')).toBe('7000');
    expect(reply.headers.get('x-should-retry')).toBe('true');
  });

  it.each([
    ['@httpdate+5s', 3, 5],
    ['0', 1, 60],
    ['-5', 1, 60],
    ['soon', 1, 60],
  ])('is a number of seconds that makes sense, whatever it said: %s', async (said, least, most) => {
    world.primary.script([{ ...refusal(429), headers: { 'retry-after': said } }]);
    const seconds = Number((await send('alone')).headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(least);
    expect(seconds).toBeLessThanOrEqual(most);
  });
});

describe('rows 42 and 60: a refusal of the request', () => {
  it.each([400, 404, 405, 409, 413, 415, 422, 451])('is passed on as it came, after one call: %i', async status => {
    const step = refusal(status, 'some_code', 'no such thing');
    world.primary.script([step]);
    const reply = await send();
    expect([reply.status, reply.body, calls()]).toEqual([status, step.json, [1, 0]]);
    expect(reply.headers.get('x-should-retry')).toBe('false');
  });
});

describe('rows 49 and 68: a failure of the model', () => {
  const failures: [string, Step][] = [
    ...[401, 402, 403, 408, 429, 500, 501, 502, 503, 504, 520, 529].map((status): [string, Step] => [
      String(status),
      refusal(status),
    ]),
    ['302', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
    ['no answer', { no_response: 'hang' }],
    ['a reset', { no_response: 'reset' }],
    ['rubbish', { text: 'oops' }],
    ['an error in a 200', { json: { error: { message: 'x', code: 500 } } }],
  ];

  it.each(failures)('moves on, streaming or not: %s', async (_, step) => {
    world.primary.script([step]);
    world.fallback.script([completion('from fallback'), stream('from fallback')]);
    expect(told(await send())).toEqual([200, 'from fallback']);
    await world.heal();
    expect(told(await client.stream({ body: ask('hi') }))).toEqual([200, 'from fallback']);
    expect(calls()).toEqual([2, 2]);
  });
});

describe('row 54: retries do not multiply', () => {
  it('one call of ours is one call of each model, and clients are told not to repeat the walk', async () => {
    world.primary.script([refusal(503)]);
    world.fallback.script([refusal(503)]);
    const reply = await send();
    expect([reply.status, calls()]).toEqual([502, [1, 1]]);
    expect(reply.headers.get('x-should-retry')).toBe('false');
    expect(reply.headers.get('x-spillway-attempts')).toBe('2');
  });

  it('where only one was asked a retry may help', async () => {
    world.primary.script([refusal(503)]);
    expect((await send('alone')).headers.get('x-should-retry')).toBe('true');
  });
});

describe('rows 56, 58, 69 and 71: a walk along the chain', () => {
  it('asks each model once, in order, and ends', async () => {
    world.primary.script([refusal(503)]);
    const reply = await send('four');
    expect([...told(reply), reply.headers.get('x-spillway-attempts')]).toEqual([200, 'from fallback', '4']);
    expect(calls()).toEqual([1, 1]);
    world.fallback.script([refusal(500)]);
    const failed = await send('four');
    expect([...told(failed), failed.headers.get('x-spillway-attempts')]).toEqual([502, 'upstream_error', '4']);
  });

  it('row 70: cannot be configured to come back to a model, or to another route', () => {
    const chains = (chain: string[]): object =>
      worldConfiguration(
        { primary: 'http://127.0.0.1:1', fallback: 'http://127.0.0.1:2' },
        { configuration: { routes: { again: { chain } } } },
      );
    expect(() => configStore(chains(['primary', 'fallback', 'primary']))).toThrow(/again\.chain/);
    expect(() => configStore(chains(['primary', 'm-primary']))).toThrow(/again\.chain/);
    expect(() => configStore(chains(['again']))).toThrow(/again\.chain/);
  });
});

it('row 59: every model gets the request as the caller sent it, under its own name', async () => {
  world.primary.script([refusal(503)]);
  const more = {
    temperature: 0,
    tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
    odd: { n: null },
  };
  await send('m-primary', more);
  const [first, second] = [world.primary, world.fallback].map(
    ({ requests }) => JSON.parse(requests[0]?.body ?? '') as object,
  );
  expect(first).toEqual({ ...ask('hi', more), model: 'real-primary' });
  expect(second).toEqual({ ...ask('hi', more), model: 'real-fallback' });
});

it('row 61: a model that takes too long is 504', async () => {
  world.primary.script([{ no_response: 'hang' }]);
  expect(told(await send('alone'))).toEqual([504, 'upstream_timeout']);
});

it('row 62: when every model is limited the caller is told to come back, not that something broke', async () => {
  world.primary.script([refusal(500)]);
  world.fallback.script([{ ...refusal(429), headers: { 'retry-after-ms': '2500' } }]);
  const reply = await send();
  expect([...told(reply), reply.headers.get('retry-after')]).toEqual([503, 'no_model_available', '3']);
});

describe('row 133: an answer without content', () => {
  const nothing: [string, Step, Step][] = [
    ['none', completion(''), events([text(''), FINISH, '[DONE]'])],
    ['white space', completion(' \n'), events([text(' \n'), FINISH, '[DONE]'])],
    ['no choices', completion('', { choices: [] }), events(['[DONE]'])],
    ['no body', { text: '' }, events([])],
  ];

  it.each(nothing)('moves on: %s', async (_, whole, streamed) => {
    world.primary.script([whole, streamed]);
    world.fallback.script([completion('from fallback'), stream('from fallback')]);
    expect(told(await send())).toEqual([200, 'from fallback']);
    expect(told(await client.stream({ body: ask('hi') }))).toEqual([200, 'from fallback']);
  });

  it('is told from one that refuses, or that was cut at once', async () => {
    const choice = (message: object, finish_reason: string): object => ({
      choices: [{ index: 0, message, finish_reason }],
    });
    world.primary.script([
      completion('', choice({ role: 'assistant', content: null, refusal: 'I must not.' }, 'stop')),
      completion('', choice({ role: 'assistant', content: '' }, 'content_filter')),
      completion('', choice({ role: 'assistant', content: '' }, 'length')),
    ]);
    for (let index = 0; index < 3; index++) expect((await send()).headers.get('x-spillway-model')).toBe('primary');
  });
});

describe('row 137: a provider that is not there', () => {
  it.each(['nowhere', 'unknown'])('is 502 in the form clients know: %s', async model => {
    for (const reply of [await send(model), await client.stream({ body: ask('hi', { model }) })]) {
      expect(told(reply)).toEqual([502, 'upstream_error']);
      expect(reply.headers.get('content-type')).toContain('application/json');
      expect(reply.raw).not.toMatch(/ECONNREFUSED|ENOTFOUND|127\.0\.0\.1|invalid\b.*host|html/);
    }
  });
});
