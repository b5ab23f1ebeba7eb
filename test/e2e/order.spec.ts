/** @alone Where a worker stands still for 400 ms it counts as dead, and what it had reached loses its order. */
import type OpenAI from 'openai';
import type { APIError } from 'openai';
import { ask, callerOf, failureOf, type Asked } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { questionIn } from '../support/model-requests';
import { eventually, waitingAt } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

// A worker that stands still for 400 ms counts as dead, and what it had reached loses its order: not what is asked here.
jest.retryTimes(2, { logErrorsBeforeRetry: true });

const QUEUE_LIMIT = 6;
/** Long enough to queue several calls behind a call that lasts as long. */
const HELD_MS = 1_200;

const configuration = (express: boolean): object => ({
  models: { m: { provider: 'simulator', limits: { inflight: 1 }, headroom: 0 } },
  routes: { assistant: { chain: ['m'], cache: { exact: false } } },
  priorities: { low: { queue_limit: QUEUE_LIMIT }, normal: { queue_limit: 100 } },
  scheduling: { express },
});

describe.each([true, false])('the order of calls over two gateways, express: %s', express => {
  let installation: Installation;
  let gateways: readonly [SpillwayProcess, SpillwayProcess];
  let one: OpenAI;
  let other: OpenAI;

  beforeAll(async () => {
    installation = await startInstallation();
    const start = (role: 'gateway' | 'worker'): Promise<SpillwayProcess> =>
      installation.start(role, configuration(express));
    const [first, second] = await Promise.all([start('gateway'), start('gateway'), start('worker')]);
    gateways = [first, second];
    one = callerOf(first.url);
    other = callerOf(second.url);
  });

  afterAll(() => installation.stop());
  beforeEach(() => installation.simulator.reset());

  const call = (caller: OpenAI, question: string, headers: Record<string, string> = {}): Promise<Asked> =>
    ask(caller, 'assistant', question, { headers });
  const served = (): string[] => installation.simulator.requests('m').map(({ body }) => questionIn(body));
  /** Occupies the model for a while; calls made after it are over in an instant. */
  const holdTheModel = async (): Promise<{ readonly held: Promise<Asked> }> => {
    installation.simulator.configure('m', { latency: { first_token_ms: HELD_MS } });
    const held = call(one, 'held');
    await eventually(() => served().length === 1);
    installation.simulator.configure('m', { latency: { first_token_ms: 0 } });
    return { held };
  };
  const waiting = (count: number): Promise<number> =>
    eventually(async () => (await waitingAt(gateways[1])) === count, HELD_MS);

  it('a critical call goes before low ones that came earlier and elsewhere', async () => {
    const { held } = await holdTheModel();
    const calls: Promise<Asked>[] = [held];
    for (let index = 1; index <= 5; index++) {
      calls.push(call(one, `low ${index}`, { 'x-spillway-priority': 'low' }));
      await waiting(index);
    }
    calls.push(call(other, 'critical', { 'x-spillway-priority': 'critical' }));
    calls.push(call(other, 'normal'));
    await waiting(7);
    await Promise.all(calls);
    expect(served()).toEqual(['held', 'critical', 'normal', 'low 1', 'low 2', 'low 3', 'low 4', 'low 5']);
  });

  it('within a class the earlier deadline goes first', async () => {
    const { held } = await holdTheModel();
    const calls: Promise<Asked>[] = [held];
    for (const [index, [caller, wait]] of (
      [
        [one, 20_000],
        [other, 8_000],
        [one, 14_000],
      ] as const
    ).entries()) {
      calls.push(call(caller, `may wait ${wait}`, { 'x-spillway-max-wait-ms': String(wait) }));
      await waiting(index + 1);
    }
    await Promise.all(calls);
    expect(served()).toEqual(['held', 'may wait 8000', 'may wait 14000', 'may wait 20000']);
  });

  it('takes exactly as many calls of a class into its queue as it may hold', async () => {
    const { held } = await holdTheModel();
    const attempts = Array.from({ length: 20 }, (_, index) =>
      call(index % 2 === 0 ? one : other, `low ${index}`, { 'x-spillway-priority': 'low' }),
    );
    const results = await Promise.allSettled(attempts);
    await held;
    const refused = results.flatMap(result => (result.status === 'rejected' ? [result.reason as APIError] : []));
    expect(refused).toHaveLength(attempts.length - QUEUE_LIMIT);
    for (const { status, code, headers } of refused) {
      expect({ status, code }).toEqual({ status: 429, code: 'queue_full' });
      expect(Number(headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(headers?.get('x-spillway-outcome')).toBe('rejected-queue-full');
    }
    expect(served()).toHaveLength(1 + QUEUE_LIMIT);
  });

  it('gives a call up that gets no turn in the time it may wait', async () => {
    const { held } = await holdTheModel();
    const startedAt = Date.now();
    const error = await failureOf(call(other, 'in a hurry', { 'x-spillway-max-wait-ms': '200' }));
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(199);
    expect(error).toMatchObject({ status: 504, code: 'queue_timeout' });
    expect(error.headers?.get('x-spillway-outcome')).toBe('expired-in-queue');
    expect(Number(error.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(error.headers?.get('x-spillway-queue-ms'))).toBeGreaterThanOrEqual(199);
    await waiting(0);
    await held;
    expect(served()).toEqual(['held']);
  });

  it('refuses at once a call whose expected wait is longer than it may wait', async () => {
    installation.simulator.configure('m', { latency: { first_token_ms: 50 } });
    await Promise.all(Array.from({ length: 20 }, (_, index) => call(one, `to learn from ${index}`)));
    const critical = { 'x-spillway-priority': 'critical', 'x-spillway-max-wait-ms': '20000' };
    const queue = Array.from({ length: 40 }, (_, index) => call(one, `ahead ${index}`, critical));
    const allAnswered = Promise.all(queue);
    await eventually(async () => (await waitingAt(gateways[1])) > 35);
    const startedAt = Date.now();
    const error = await failureOf(call(other, 'cannot make it', { 'x-spillway-max-wait-ms': '1200' }));
    expect(Date.now() - startedAt).toBeLessThan(600);
    expect(error).toMatchObject({ status: 504, code: 'queue_timeout' });
    expect(Number(error.headers?.get('retry-after-ms'))).toBeGreaterThan(1_200);
    await allAnswered;
    expect(served()).not.toContain('cannot make it');
  });
});
