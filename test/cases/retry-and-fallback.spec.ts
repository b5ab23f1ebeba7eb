import OpenAI from 'openai';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, Reply } from '../support/api-client';
import { until } from '../support/api-client';
import { inputsOf } from '../support/case-data';
import { completion, events, FINISH, stream, text } from '../support/model-answers';
import type { Step } from '../support/upstream-step';
import { ask, startWorld, type World } from '../support/world';

const KIND = 'retry-and-fallback';
const TIMEOUT_MS = 1_500;

let world: World;
let client: ApiClient;

beforeAll(async () => {
  world = await startWorld({
    // The cases are about the walk along the chain; a climber would remember the refusals of the case before.
    model: { climb: { mode: 'off' }, timeout_ms: TIMEOUT_MS, first_token_timeout_ms: 300, idle_timeout_ms: 600 },
  });
  ({ client } = world);
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.heal();
  world.fallback.script([completion('from fallback')]);
});

const stepsOf = (id: string): Step[] => inputsOf<{ step: Step }>(KIND, id).map(({ step }) => step);
const calls = (): number[] => [world.primary.requests.length, world.fallback.requests.length];
const told = (reply: Reply): unknown[] => [reply.status, reply.said];

describe('C01 a spent account', () => {
  beforeEach(() => world.primary.script(stepsOf('C01')));

  it('is not waited for: the next model answers at once', async () => {
    const reply = await client.send({ body: ask('spent') });
    expect(told(reply)).toEqual([200, 'from fallback']);
    expect(calls()).toEqual([1, 1]);
    expect(reply.took).toBeLessThan(5_000);
    expect(reply.headers.get('x-spillway-degraded')).toBe('fallback-model');
  });

  it('is told as one that no retry can help, and the official client does not retry', async () => {
    const sdk = new OpenAI({ baseURL: `${world.gateway.url}/v1`, apiKey: 'KEY_A' });
    const call = sdk.chat.completions.create({ model: 'alone', messages: [{ role: 'user', content: 'spent' }] });
    await expect(call).rejects.toMatchObject({ status: 503, code: 'no_model_available' });
    expect(calls()).toEqual([1, 0]);
  });
});

describe('C02 a limit that only sounds like a spent account', () => {
  beforeEach(() => world.primary.script(stepsOf('C02')));

  it('moves on to the next model', async () => {
    expect(told(await client.send({ body: ask('concurrent') }))).toEqual([200, 'from fallback']);
    expect(calls()).toEqual([1, 1]);
  });

  it('is worth a retry where there is none', async () => {
    const reply = await client.send({ body: ask('concurrent', { model: 'alone' }) });
    expect(told(reply)).toEqual([503, 'no_model_available']);
    expect(reply.headers.get('x-should-retry')).toBe('true');
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('C07 refusals', () => {
  beforeEach(() => world.primary.script(stepsOf('C07')));

  it('of bad requests go to the caller as they are, each after one call of one model', async () => {
    const refused = stepsOf('C07')[0]?.json;
    for (let round = 1; round <= 10; round++) {
      const reply = await client.send({ body: ask('bad') });
      expect([reply.status, reply.body]).toEqual([400, refused]);
      expect(reply.headers.get('x-spillway-outcome')).toBe('rejected-invalid');
      expect(calls()).toEqual([round, 0]);
    }
  });

  it.each(['billing400', 'billing402'])('of unpaid accounts are not the caller’s fault: %s', async question => {
    expect(told(await client.send({ body: ask(question) }))).toEqual([200, 'from fallback']);
    expect(calls()).toEqual([1, 1]);
    const alone = await client.send({ body: ask(question, { model: 'alone' }) });
    expect(told(alone)).toEqual([502, 'upstream_auth_error']);
    expect(alone.headers.get('x-should-retry')).toBe('false');
  });
});

describe('C08 a prompt too long, in many dialects', () => {
  const dialects = stepsOf('C08').map((step, index) => [index, step] as const);

  it.each(dialects)('goes to a model with a larger window: %i', async (_, step) => {
    world.primary.script([step]);
    expect(told(await client.send({ body: ask('long') }))).toEqual([200, 'from fallback']);
    expect(calls()).toEqual([1, 1]);
  });

  it.each(dialects)('is told as it came where there is none: %i', async (_, step) => {
    world.primary.script([step]);
    const reply = await client.send({ body: ask('long', { model: 'alone' }) });
    expect(reply.status).toBe(400);
    expect(reply.raw).toMatch(/context|too long/);
    expect(reply.headers.get('x-should-retry')).toBe('false');
    expect(calls()).toEqual([1, 0]);
  });
});

describe('C16 broken connections', () => {
  it('that were closed while idle cost nothing', async () => {
    world.primary.script([{ ...completion('pong'), keepalive_close_after_ms: 40 }, completion('again')]);
    expect((await client.send({ body: ask('warm', { model: 'alone' }) })).said).toBe('pong');
    await sleep(41);
    const stale = await client.send({ body: ask('stale', { model: 'alone' }) });
    expect(told(stale)).toEqual([200, 'again']);
    expect(stale.headers.get('x-spillway-attempts')).toBe('1');
  });

  it.each([
    ['once is answered on a fresh socket', [completion('again')], [200, 'again'], 3],
    ['twice is a failure', [{ no_response: 'reset' }, completion('never')], [502, 'upstream_error'], 3],
  ] as [string, Step[], unknown[], number][])(
    'reset just as a request came: %s',
    async (_, then, expected, requests) => {
      world.primary.script([completion('pong'), { no_response: 'reset' }, ...then]);
      await client.send({ body: ask('warm', { model: 'alone' }) });
      await sleep(10);
      expect(told(await client.send({ body: ask('stale', { model: 'alone' }) }))).toEqual(expected);
      expect(world.primary.requests).toHaveLength(requests);
    },
  );

  const half: Step = {
    headers: { 'content-type': 'application/json', 'content-length': '500' },
    body_parts: [{ text: '{"id":"x",' }],
    end: 'reset',
  };

  it('in the middle of an answer are failures of the model: half a body is never passed on', async () => {
    world.primary.script([half]);
    const reply = await client.send({ body: ask('after bytes', { model: 'alone' }) });
    expect(told(reply)).toEqual([502, 'upstream_error']);
    expect(reply.raw).not.toContain('"id":"x"');
    expect(calls()).toEqual([1, 0]);
  });

  it('in the middle of an answer move on, and both attempts are counted', async () => {
    world.primary.script([half]);
    const reply = await client.send({ body: ask('after bytes') });
    expect(told(reply)).toEqual([200, 'from fallback']);
    expect(reply.headers.get('x-spillway-attempts')).toBe('2');
  });
});

describe('C18 the time a model may take', () => {
  it('ends with 504, and the call of the model with it', async () => {
    world.primary.script([{ ...completion('late'), ttfb_ms: 5_000 }]);
    const reply = await client.send({ body: ask('slow', { model: 'alone' }) });
    expect(told(reply)).toEqual([504, 'upstream_timeout']);
    expect(reply.took).toBeGreaterThanOrEqual(TIMEOUT_MS - 5);
    expect(reply.took).toBeLessThan(TIMEOUT_MS + 2_500);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    await until(() => world.primary.requests[0]?.closed_at != null, 3_000);
  });

  it('is all of it used', async () => {
    world.primary.script([{ ...completion('just in time'), ttfb_ms: TIMEOUT_MS * 0.7 }]);
    expect((await client.send({ body: ask('slow') })).said).toBe('just in time');
  });
});

describe('C20 a stream that drips', () => {
  const drip = (everyMs: number): Step['sse'] => [{ drip: { text: ': x\n', every_ms: everyMs, count: 1_000 } }];

  it('of comments alone is no progress: the first token is late', async () => {
    world.primary.script([events(drip(40) ?? [], { end: 'hang' })]);
    world.fallback.script([stream('from fallback')]);
    const reply = await client.stream({ body: ask('comments alone') });
    expect(told(reply)).toEqual([200, 'from fallback']);
    expect(reply.took).toBeGreaterThanOrEqual(295);
    expect(reply.took).toBeLessThan(TIMEOUT_MS);
  });

  it('just under the idle limit ends with an error at the total one', async () => {
    world.primary.script([events([text('so'), ...(drip(40) ?? []), FINISH], { end: 'hang' })]);
    const reply = await client.stream({ body: ask('dripping') });
    expect(reply.took).toBeGreaterThanOrEqual(TIMEOUT_MS - 5);
    expect(reply.took).toBeLessThan(TIMEOUT_MS + 5_000);
    expect(reply.said).toBe('so');
    expect(reply.chunks.at(-1)?.error).toMatchObject({ code: 'upstream_timeout', type: 'timeout_error' });
    expect(calls()).toEqual([1, 0]);
    await until(() => world.primary.requests[0]?.closed_at != null, 3_000);
  });
});
