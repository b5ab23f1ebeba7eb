import { ask, callerOf, failureOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { questionIn } from '../support/model-requests';
import { eventually, underWayAt, waitingAt } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const LEASE_MS = 2_000;
const CLAIM_MS = 1_000;
const INFLIGHT = 2;
/** A second, and as much again as a busy machine may take for the calls themselves. */
const HANDED_OUT_MS = 8_000;

interface Queues {
  readonly normal: {
    readonly tickets: readonly { readonly reached: boolean }[];
    readonly jobs: { readonly prioritized: number };
  };
}

const configuration = (express: boolean): object => ({
  models: { m: { provider: 'simulator', limits: { inflight: INFLIGHT }, headroom: 0 } },
  routes: { assistant: { chain: ['m'], cache: { exact: false } } },
  scheduling: { express, lease_ms: LEASE_MS, claim_ms: CLAIM_MS },
  priorities: { normal: { max_wait_ms: 30_000, share: 1 } },
});

describe('the death of a process', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await startInstallation();
  });

  afterEach(() => installation.clear());
  afterAll(() => installation.stop());

  const start = (role: 'gateway' | 'worker', express = false): Promise<SpillwayProcess> =>
    installation.start(role, configuration(express));
  const asked = (): string[] => installation.simulator.requests('m').map(({ body }) => questionIn(body));
  const queueAt = async ({ url }: SpillwayProcess): Promise<Queues['normal']> => {
    const { normal } = (await (await fetch(`${url}/admin/queues?limit=1000`)).json()) as Queues;
    return normal;
  };
  const ticketsAt = async (process: SpillwayProcess) => (await queueAt(process)).tickets;
  /** Jobs that a worker has taken, while it has not reached their tickets. */
  const takenAt = async (process: SpillwayProcess): Promise<number> => {
    const { tickets, jobs } = await queueAt(process);
    return tickets.filter(({ reached }) => !reached).length - jobs.prioritized;
  };
  const call = async ({ url }: SpillwayProcess, question: string): Promise<string> =>
    (await ask(callerOf(url), 'assistant', question)).text;

  it.each([true, false])(
    'a gateway killed with calls under way and waiting leaves nothing behind, others go on (express: %s)',
    async express => {
      const roles = ['gateway', 'gateway', 'worker'] as const;
      const [dying, living] = (await Promise.all(roles.map(role => start(role, express)))) as [
        SpillwayProcess,
        SpillwayProcess,
        SpillwayProcess,
      ];
      installation.simulator.configure('m', { latency: { first_token_ms: 60_000 } });
      const lost: Promise<unknown>[] = [];
      for (let index = 1; index <= INFLIGHT; index++) lost.push(failureOf(call(dying, `running ${index}`)));
      await eventually(() => asked().length === INFLIGHT);
      for (let index = 1; index <= 3; index++) lost.push(failureOf(call(dying, `waiting ${index}`)));
      await eventually(async () => (await waitingAt(living)) === 3);
      const others = [1, 2, 3, 4].map(index => call(living, `other ${index}`));
      await eventually(async () => (await waitingAt(living)) === 7);
      installation.simulator.configure('m', { latency: { first_token_ms: 0 } });

      dying.kill('SIGKILL');
      const killedAt = Date.now();
      await Promise.all(lost);
      expect(await Promise.all(others)).toEqual([1, 2, 3, 4].map(index => expect.stringContaining(`other ${index}`)));
      // Every ticket of the dead may have cost one claim, at most as many at a time as there are permits.
      expect(Date.now() - killedAt).toBeLessThan(LEASE_MS + 3 * CLAIM_MS + 5_000);
      await eventually(async () => (await waitingAt(living)) === 0);
      await eventually(async () => (await underWayAt(living)) === 0, LEASE_MS + 3 * CLAIM_MS);
      expect(asked().filter(question => question.startsWith('waiting'))).toEqual([]);
      expect(installation.simulator.stats()['m']).toMatchObject({ aborted: INFLIGHT, inflight: 0 });
    },
  );

  it('of two workers one is killed: no waiting call is lost, and none is made twice', async () => {
    const [one, other, dying] = await Promise.all([
      start('gateway'),
      start('gateway'),
      start('worker'),
      start('worker'),
    ]);
    installation.simulator.configure('m', { latency: { first_token_ms: 40 } });
    const questions = Array.from({ length: 60 }, (_, index) => `question ${index}.`);
    const calls = questions.map((question, index) => call(index % 2 === 0 ? one : other, question));
    await eventually(() => asked().length > 10);
    dying.kill('SIGKILL');
    const answers = await Promise.all(calls);
    answers.forEach((answer, index) => expect(answer).toContain(questions[index]));
    expect(asked().toSorted()).toEqual(questions.toSorted());
    expect(await waitingAt(one)).toBe(0);
  });

  it('what a killed worker had reached is handed out by another at once', async () => {
    const [one, dying] = await Promise.all([start('gateway'), start('worker'), start('worker')]);
    installation.simulator.configure('m', { latency: { first_token_ms: 3_000 } });
    const held = Array.from({ length: INFLIGHT }, (_, index) => call(one, `held ${index}.`));
    await eventually(() => asked().length === INFLIGHT);
    const questions = Array.from({ length: 200 }, (_, index) => `question ${index}.`);
    const calls = questions.map(question => call(one, question));
    await eventually(async () => (await ticketsAt(one)).every(({ reached }) => reached));
    installation.simulator.configure('m', { latency: { first_token_ms: 0 } });
    await held[0];
    dying.kill('SIGKILL');
    const killedAt = Date.now();
    await Promise.all(calls);
    expect(Date.now() - killedAt).toBeLessThan(HANDED_OUT_MS);
    expect(asked().slice(INFLIGHT).toSorted()).toEqual(questions.toSorted());
  });

  it('what a killed worker was about to reach is handed out by another at once', async () => {
    const [one, dying] = await Promise.all([start('gateway'), start('worker')]);
    installation.simulator.configure('m', { latency: { first_token_ms: 5 } });
    const calls: Promise<string>[] = [];
    await eventually(async () => {
      dying.kill('SIGCONT');
      const before = asked().length;
      calls.push(...Array.from({ length: 40 }, (_, index) => call(one, `question ${calls.length + index}.`)));
      await eventually(() => asked().length > before);
      dying.kill('SIGSTOP');
      // Entered, and added to the queue.
      await new Promise(resolve => setTimeout(resolve, 300));
      return (await takenAt(one)) > 0;
    });
    await start('worker');
    dying.kill('SIGKILL');
    const killedAt = Date.now();
    await Promise.all(calls);
    expect(Date.now() - killedAt).toBeLessThan(HANDED_OUT_MS);
    expect(asked().toSorted()).toEqual(calls.map((_, index) => `question ${index}.`).toSorted());
  });

  it('the only worker is killed: calls wait until there is another, and none is lost or made twice', async () => {
    const [one, other, dying] = await Promise.all([start('gateway'), start('gateway'), start('worker')]);
    installation.simulator.configure('m', { latency: { first_token_ms: 40 } });
    const questions = Array.from({ length: 40 }, (_, index) => `question ${index}.`);
    const calls = questions.map((question, index) => call(index % 2 === 0 ? one : other, question));
    await eventually(() => asked().length > 5);
    dying.kill('SIGKILL');
    await start('worker');
    const answers = await Promise.all(calls);
    answers.forEach((answer, index) => expect(answer).toContain(questions[index]));
    expect(asked().toSorted()).toEqual(questions.toSorted());
    expect(await waitingAt(one)).toBe(0);
  });

  it('a call that lasts longer than a lease keeps its permit as long as its gateway lives', async () => {
    const short = {
      ...configuration(true),
      models: { m: { provider: 'simulator', limits: { inflight: 1 }, headroom: 0 } },
      scheduling: { lease_ms: 1_500, claim_ms: 1_000 },
    };
    const [one, other] = await Promise.all([
      installation.start('gateway', short),
      installation.start('gateway', short),
      installation.start('worker', short),
    ]);
    installation.simulator.configure('m', { latency: { first_token_ms: 2_500 } });
    const long = call(one, 'long');
    await eventually(() => asked().length === 1);
    installation.simulator.configure('m', { latency: { first_token_ms: 0 } });
    await Promise.all([long, call(other, 'patient')]);
    expect(installation.simulator.stats()['m']?.peak_inflight).toBe(1);
  });
});
