import { setTimeout as sleep } from 'node:timers/promises';
import { ask, callerOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { eventually, waitingAt } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const INFLIGHT = 2;
const LEASE_MS = 2_000;
/** A call ends before the lease that a frozen process cannot renew: what runs on without it is the provider's alone. */
const CALL_MS = 800;

const configuration = (express: boolean): object => ({
  models: { m: { provider: 'simulator', limits: { inflight: INFLIGHT }, headroom: 0 } },
  routes: { assistant: { chain: ['m'], cache: { exact: false } } },
  scheduling: { express, lease_ms: LEASE_MS, claim_ms: 1_000 },
  priorities: { normal: { max_wait_ms: 60_000, share: 1 } },
});

describe('a gateway that stands still for longer than a lease', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await startInstallation();
  });

  afterEach(() => installation.clear());
  afterAll(() => installation.stop());

  it.each([true, false])('never leads to more calls at once than the limit (express: %s)', async express => {
    const [frozen, living] = (await Promise.all([
      installation.start('all', configuration(express)),
      installation.start('all', configuration(express)),
    ])) as [SpillwayProcess, SpillwayProcess];
    installation.simulator.configure('m', { limits: { inflight: INFLIGHT }, latency: { first_token_ms: CALL_MS } });
    const call = async ({ url }: SpillwayProcess, question: string): Promise<string> =>
      (await ask(callerOf(url), 'assistant', question)).text;
    const calls = ['one', 'two', 'three', 'four', 'five'].map(word => call(frozen, `frozen ${word}`));
    await eventually(() => installation.simulator.stats()['m']?.accepted === INFLIGHT);
    calls.push(...['one', 'two', 'three', 'four'].map(word => call(living, `living ${word}`)));
    await eventually(async () => (await waitingAt(living)) > 0);

    frozen.kill('SIGSTOP');
    await sleep(2 * LEASE_MS);
    frozen.kill('SIGCONT');

    const answers = await Promise.all(calls);
    expect(answers.every(answer => answer.length > 0)).toBe(true);
    const stats = installation.simulator.stats()['m'];
    expect(stats?.refused.inflight).toBe(0);
    expect(stats?.peak_inflight).toBe(INFLIGHT);
    expect(stats?.accepted).toBe(calls.length);
  });
});
