import OpenAI from 'openai';
import { ask, askForStream, callerOf, failureOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { eventually, underWayAt, waitingAt } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const APOLOGY = 'Not in time, sorry.';
const DEADLINE = { headers: { 'x-spillway-deadline-ms': '400' } };

const CONFIGURATION = {
  models: {
    first: { provider: 'simulator' },
    second: { provider: 'simulator' },
    single: { provider: 'simulator', limits: { inflight: 1 }, headroom: 0 },
    wide: { provider: 'simulator', limits: { inflight: 24 }, headroom: 0 },
  },
  routes: { assistant: { chain: ['first', 'second'], fallback_response: { critical: APOLOGY } } },
};

describe('the deadline of a call', () => {
  let installation: Installation;
  let gateway: SpillwayProcess;
  let caller: OpenAI;

  beforeAll(async () => {
    installation = await startInstallation();
    [gateway] = await Promise.all([
      installation.start('gateway', CONFIGURATION),
      installation.start('worker', CONFIGURATION),
    ]);
    caller = callerOf(gateway.url);
  });

  afterAll(() => installation.stop());

  beforeEach(() => installation.simulator.reset());

  afterEach(async () => {
    await eventually(async () => (await underWayAt(gateway)) + (await waitingAt(gateway)) === 0);
  });

  const requests = (model: string) => installation.simulator.requests(model);
  const slow = (model: string): void =>
    installation.simulator.configure(model, { latency: { first_token_ms: 20_000 } });
  /** The error of a call and the milliseconds until it came. */
  const timed = async (call: Promise<unknown>) => {
    const startedAt = Date.now();
    const error = await failureOf(call);
    return { error, tookMs: Date.now() - startedAt };
  };

  it.each([
    ['a whole answer', ask],
    ['a stream', askForStream],
  ])('ends %s while a model is at work, and gives that model up', async (what, askSomehow) => {
    slow('first');
    const { error, tookMs } = await timed(askSomehow(caller, 'assistant', what, DEADLINE));
    expect(error).toMatchObject({ status: 504, code: 'upstream_timeout' });
    expect(error.headers?.get('x-spillway-outcome')).toBe('upstream-failed');
    expect(tookMs).toBeGreaterThanOrEqual(399);
    expect(tookMs).toBeLessThan(5_000);
    await eventually(() => requests('first')[0]?.closed_at !== null, 10_000);
    expect(requests('second')).toHaveLength(0);
  });

  it('covers the walk along the chain', async () => {
    installation.simulator.configure('first', {
      faults: [{ kind: 'status', status: 500 }],
      latency: { first_token_ms: 0 },
    });
    slow('second');
    const { error } = await timed(ask(caller, 'assistant', 'walk', DEADLINE));
    expect(error).toMatchObject({ status: 504, code: 'upstream_timeout' });
    expect(error.headers?.get('x-spillway-attempts')).toBe('2');
  });

  it('ends a call that still waits for its turn', async () => {
    installation.simulator.configure('single', { latency: { first_token_ms: 3_000 } });
    const held = ask(caller, 'single', 'held');
    await eventually(() => requests('single').length === 1);
    const { error, tookMs } = await timed(ask(caller, 'single', 'waits', DEADLINE));
    expect(error).toMatchObject({ status: 504, code: 'queue_timeout' });
    expect(error.headers?.get('x-spillway-outcome')).toBe('expired-in-queue');
    expect(tookMs).toBeLessThan(2_500);
    await held;
    expect(requests('single')).toHaveLength(1);
  });

  it('ends a wait that leaves too little of it for an answer, once it is known how long answers take', async () => {
    installation.simulator.configure('wide', { latency: { first_token_ms: 2_000 } });
    const critical = callerOf(gateway.url, { path: '/critical/v1' });
    const round = (name: string) => Array.from({ length: 24 }, (_, at) => ask(critical, 'wide', `${name} ${at}`));
    await Promise.all(round('learnt from'));
    const held = round('held');
    await eventually(() => requests('wide').length === 48);
    const options = { headers: { 'x-spillway-deadline-ms': '2400' } };
    const { error, tookMs } = await timed(ask(critical, 'wide', 'a turn after two seconds is too late', options));
    expect(error).toMatchObject({ status: 504, code: 'queue_timeout' });
    expect(tookMs).toBeLessThan(1_800);
    await Promise.all(held);
    expect(requests('wide')).toHaveLength(48);
  });

  it('is answered with the fallback response where there is one', async () => {
    slow('first');
    const critical = callerOf(gateway.url, { path: '/critical/v1' });
    const { text, headers } = await ask(critical, 'assistant', 'soon please', DEADLINE);
    expect(text).toBe(APOLOGY);
    expect(headers.get('x-spillway-degraded')).toBe('fallback-response');
    expect((await askForStream(critical, 'assistant', 'soon please', DEADLINE)).text).toBe(APOLOGY);
  });

  it("is taken from the client's own timeout, a little before it", async () => {
    slow('first');
    const impatient = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'none', maxRetries: 0, timeout: 1_000 });
    const error = await failureOf(ask(impatient, 'assistant', 'a timeout of my own', { timeout: 1_000 }));
    expect(error).toMatchObject({ status: 504, code: 'upstream_timeout' });
  });

  it('does not cut a stream that has begun in time', async () => {
    installation.simulator.configure('first', { latency: { first_token_ms: 0, tokens_per_s: 25 } });
    const startedAt = Date.now();
    const { chunks } = await askForStream(caller, 'assistant', 'as long as it takes, word by word by word', DEADLINE);
    expect(Date.now() - startedAt).toBeGreaterThan(400);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });
});
