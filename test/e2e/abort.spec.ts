import type OpenAI from 'openai';
import { ask, askForStream, callerOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { eventually, underWayAt, waitingAt } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const WITHIN_MS = 5_000;

const CONFIGURATION = {
  models: { m: { provider: 'simulator', limits: { inflight: 1 }, headroom: 0 } },
  routes: { assistant: { chain: ['m'] } },
};

describe.each(['gateway and worker', 'one process'])('a caller that leaves, %s', kind => {
  let installation: Installation;
  let gateway: SpillwayProcess;
  let caller: OpenAI;

  beforeAll(async () => {
    installation = await startInstallation();
    const processes = await Promise.all(
      kind === 'one process'
        ? [installation.start('all', CONFIGURATION, { REDIS_URL: '' })]
        : [installation.start('gateway', CONFIGURATION), installation.start('worker', CONFIGURATION)],
    );
    [gateway] = processes as [SpillwayProcess];
    caller = callerOf(gateway.url);
  });

  afterAll(() => installation.stop());
  beforeEach(() => installation.simulator.reset());
  afterEach(async () => {
    await eventually(async () => (await underWayAt(gateway)) + (await waitingAt(gateway)) === 0);
  });

  const requests = () => installation.simulator.requests('m');
  const leftCalls = (): number => gateway.logLines().filter(line => line['outcome'] === 'client-gone').length;
  const leaves = async (call: Promise<unknown>, leave: AbortController): Promise<void> => {
    const before = leftCalls();
    leave.abort();
    await expect(call).rejects.toThrow('aborted');
    await eventually(() => leftCalls() === before + 1, WITHIN_MS);
  };

  it('while it waits: its place is free, and no model is ever called for it', async () => {
    installation.simulator.configure('m', { latency: { first_token_ms: 1_200 } });
    const held = ask(caller, 'assistant', 'held');
    await eventually(() => requests().length === 1);
    const leave = new AbortController();
    const impatient = ask(caller, 'assistant', 'impatient', { signal: leave.signal });
    await eventually(async () => (await waitingAt(gateway)) === 1);
    const patient = ask(caller, 'assistant', 'patient');
    await eventually(async () => (await waitingAt(gateway)) === 2);
    await leaves(impatient, leave);
    await eventually(async () => (await waitingAt(gateway)) === 1, WITHIN_MS);
    await Promise.all([held, patient]);
    expect(requests().map(({ body }) => /held|impatient|patient/.exec(body)?.[0])).toEqual(['held', 'patient']);
  });

  it.each([
    { when: 'before the first word of a stream', streaming: true },
    { when: 'before a whole answer', streaming: false },
  ])('$when: the call of the model is given up', async ({ when, streaming }) => {
    installation.simulator.configure('m', { latency: { first_token_ms: 20_000 } });
    const leave = new AbortController();
    const call = (streaming ? askForStream : ask)(caller, 'assistant', when, { signal: leave.signal });
    await eventually(() => requests().length === 1);
    expect(await underWayAt(gateway)).toBe(1);
    await leaves(call, leave);
    await eventually(() => requests()[0]?.closed_at !== null, WITHIN_MS);
    expect(requests()[0]?.finished).toBe(false);
    await eventually(async () => (await underWayAt(gateway)) === 0, WITHIN_MS);
  });

  it('in the middle of a stream: the call of the model is given up, and its answer is not kept', async () => {
    installation.simulator.configure('m', { latency: { tokens_per_s: 10 } });
    const leave = new AbortController();
    const question = 'a long story about a river that flows through seven countries and never comes back';
    const stream = await caller.chat.completions.create(
      { model: 'assistant', stream: true, messages: [{ role: 'user', content: question }] },
      { signal: leave.signal },
    );
    const words = stream[Symbol.asyncIterator]();
    await words.next();
    await words.next();
    expect(await underWayAt(gateway)).toBe(1);
    const before = leftCalls();
    leave.abort();
    await eventually(() => requests()[0]?.closed_at !== null, WITHIN_MS);
    expect(requests()[0]?.finished).toBe(false);
    await eventually(async () => (await underWayAt(gateway)) === 0, WITHIN_MS);
    await eventually(() => leftCalls() === before + 1, WITHIN_MS);
    installation.simulator.configure('m', { latency: { tokens_per_s: 0 } });
    const { headers } = await ask(caller, 'assistant', question);
    expect(headers.get('x-spillway-cache')).toBe('MISS');
  });

  it('during embeddings too', async () => {
    installation.simulator.configure('m', { latency: { first_token_ms: 20_000 } });
    const leave = new AbortController();
    const call = caller.embeddings.create({ model: 'm', input: 'text' }, { signal: leave.signal });
    await eventually(() => requests().length === 1);
    await leaves(call, leave);
    await eventually(() => requests()[0]?.closed_at !== null, WITHIN_MS);
    expect(requests()[0]?.finished).toBe(false);
  });
});
