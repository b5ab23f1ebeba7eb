import { setTimeout as sleep } from 'node:timers/promises';
import { ask, askForStream, callerOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { questionIn } from '../support/model-requests';
import { LOSES_REDIS } from '../support/open-redis';
import { eventually, underWayAt, waitingAt } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

/** Until what is read or checked twice a second is known. */
const SETTLED_MS = 900;

const configuration = (express: boolean): object => ({
  models: {
    free: { provider: 'simulator' },
    single: { provider: 'simulator', limits: { inflight: 1 }, headroom: 0 },
  },
  routes: { assistant: { chain: ['free'] } },
  scheduling: { express },
  redis: LOSES_REDIS,
});

describe('without Redis', () => {
  let installation: Installation;

  const begin = async (): Promise<void> => {
    installation = await startInstallation();
  };
  const end = (): Promise<void> => installation.stop();
  const questionsTo = (model: string): string[] =>
    installation.simulator.requests(model).map(({ body }) => questionIn(body));
  const becomes = (processes: readonly SpillwayProcess[], status: string, redis: string, withinMs: number) =>
    eventually(async () => {
      const found = await Promise.all(
        processes.map(async ({ url }) => {
          const response = await fetch(`${url}/readyz`);
          return { status: response.status, body: await response.json() };
        }),
      );
      const wanted = JSON.stringify({ status: 200, body: { status, parts: { redis } } });
      return found.every(one => JSON.stringify(one) === wanted);
    }, withinMs);

  describe.each([
    {
      loss: 'killed, and empty when it returns',
      express: true,
      lose: async () => installation.redis.kill('SIGKILL'),
      restore: () => installation.redis.restart(),
    },
    {
      loss: 'frozen',
      express: false,
      lose: async () => installation.redis.kill('SIGSTOP'),
      restore: async () => installation.redis.kill('SIGCONT'),
    },
    {
      loss: 'out of memory',
      express: true,
      lose: () => installation.redis.command('CONFIG', 'SET', 'maxmemory', '1'),
      restore: () => installation.redis.command('CONFIG', 'SET', 'maxmemory', '0'),
    },
    {
      loss: 'read-only',
      express: false,
      lose: () => installation.redis.command('REPLICAOF', '127.0.0.1', '1'),
      restore: () => installation.redis.command('REPLICAOF', 'NO', 'ONE'),
    },
  ] as const)('$loss (express: $express)', ({ express, lose, restore }) => {
    let first: SpillwayProcess;
    let second: SpillwayProcess;
    let worker: SpillwayProcess;

    // One installation for each loss: what a failed test leaves broken must not fail those of another.
    beforeAll(async () => {
      await begin();
      const start = (role: 'gateway' | 'worker'): Promise<SpillwayProcess> =>
        installation.start(role, configuration(express));
      [first, second, worker] = await Promise.all([start('gateway'), start('gateway'), start('worker')]);
    });
    afterAll(end);

    it('new calls are answered in time, readiness tells, and all is shared again soon after its return', async () => {
      const [one, other] = [callerOf(first.url), callerOf(second.url)];
      await ask(one, 'assistant', 'known');

      await lose();
      const startedAt = Date.now();
      const answers = await Promise.all(
        [one, other].flatMap((caller, index) => [
          ask(caller, 'assistant', `whole ${index}`),
          askForStream(caller, 'assistant', `stream ${index}`),
        ]),
      );
      expect(answers.map(({ headers }) => headers.get('x-spillway-outcome'))).toEqual(Array(4).fill('generated'));
      expect(answers.map(({ headers }) => headers.get('x-spillway-limits'))).toEqual(Array(4).fill('local'));
      expect(Date.now() - startedAt).toBeLessThan(6_000);
      await becomes([first, second, worker], 'degraded', 'lost', 10_000);
      expect((await ask(one, 'assistant', 'known')).headers.get('x-spillway-cache')).toBe('HIT');
      expect((await ask(other, 'assistant', 'unknown')).headers.get('x-spillway-outcome')).toBe('generated');
      expect((await fetch(`${first.url}/livez`)).status).toBe(200);

      await restore();
      await becomes([first, second, worker], 'ok', 'ok', 10_000);
      await sleep(SETTLED_MS);
      expect((await ask(one, 'assistant', 'shared again')).headers.get('x-spillway-limits')).toBeNull();
      await sleep(300);
      expect((await ask(other, 'assistant', 'shared again')).headers.get('x-spillway-cache')).toBe('HIT');
    });

    it('calls under way and waiting are answered, each by one call of the model', async () => {
      installation.simulator.configure('single', { latency: { first_token_ms: 1_400 } });
      const questions = Array.from({ length: 10 }, (_, index) => `question ${index}`);
      const calls = questions.map((question, index) =>
        ask(callerOf((index % 2 === 0 ? first : second).url), 'single', question),
      );
      await eventually(async () => (await waitingAt(first)) === questions.length - 1);
      installation.simulator.configure('single', { latency: { first_token_ms: 300 } });
      await lose();
      const answers = await Promise.all(calls);
      answers.forEach(({ text }, index) => expect(text).toContain(questions[index]));
      expect(questionsTo('single').toSorted()).toEqual(questions);

      await restore();
      await becomes([first, second], 'ok', 'ok', 10_000);
      // Much sooner than the leases of the calls that ended meanwhile.
      await eventually(async () => (await waitingAt(first)) + (await underWayAt(first)) === 0);
      const late = await ask(callerOf(second.url), 'single', 'and now?');
      expect(late.headers.get('x-spillway-outcome')).toBe('generated');
    });
  });

  describe('with processes of its own', () => {
    beforeEach(begin);
    afterEach(end);

    it('for a moment: no wait stays behind that would hold up others', async () => {
      const [first, second] = await Promise.all([
        installation.start('gateway', configuration(true)),
        installation.start('gateway', configuration(true)),
        installation.start('worker', configuration(true)),
      ]);
      installation.simulator.configure('single', { latency: { first_token_ms: 1_000 } });
      const calls = [ask(callerOf(first.url), 'single', 'held')];
      await eventually(() => questionsTo('single').length === 1);
      installation.simulator.configure('single', { latency: { first_token_ms: 0 } });
      installation.redis.kill('SIGSTOP');
      for (const { url } of [first, second]) {
        for (const path of ['/critical/v1', '/normal/v1'])
          calls.push(ask(callerOf(url, { path }), 'single', url + path));
      }
      await becomes([first, second], 'degraded', 'lost', 10_000);
      installation.redis.kill('SIGCONT');
      await Promise.all(calls);
      expect(questionsTo('single')).toHaveLength(calls.length);
      await eventually(async () => (await waitingAt(first)) + (await underWayAt(first)) === 0);
      await ask(callerOf(second.url, { path: '/low/v1' }), 'single', 'at last');
    });

    it('from the beginning: a process starts, serves, and finds Redis when it comes', async () => {
      installation.redis.kill('SIGKILL');
      const process = await installation.start('all', configuration(true));
      await becomes([process], 'degraded', 'lost', 10_000);
      const { headers } = await ask(callerOf(process.url), 'single', 'is anybody there?');
      expect(headers.get('x-spillway-outcome')).toBe('generated');
      await installation.redis.restart();
      await becomes([process], 'ok', 'ok', 10_000);
      const worker = await installation.start('all', configuration(true));
      await sleep(SETTLED_MS);
      await ask(callerOf(process.url), 'assistant', 'shared?');
      await sleep(300);
      expect((await ask(callerOf(worker.url), 'assistant', 'shared?')).headers.get('x-spillway-cache')).toBe('HIT');
    });
  });
});
