import { setTimeout as sleep } from 'node:timers/promises';
import { ask, callerOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { eventually, waitingAt } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const INFLIGHT = 2;
const LEASE_MS = 2_000;
/** A call ends before the lease that a frozen process cannot renew: what runs on without it is the provider's alone. */
const CALL_MS = 800;

const modelOf = (express: boolean): string => (express ? 'express' : 'queued');
const configuration = (express: boolean): object => ({
  models: { [modelOf(express)]: { provider: 'simulator', limits: { inflight: INFLIGHT }, headroom: 0 } },
  routes: { assistant: { chain: [modelOf(express)], cache: { exact: false } } },
  redis: { prefix: `freeze-${modelOf(express)}` },
  scheduling: { express, lease_ms: LEASE_MS, claim_ms: 1_000 },
  priorities: { normal: { max_wait_ms: 60_000, share: 1 } },
});

describe('a gateway that stands still for longer than a lease', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await startInstallation();
  });

  afterAll(() => installation.stop());

  const freeze = async (express: boolean): Promise<object> => {
    const model = modelOf(express);
    const stats = () => installation.simulator.stats()[model];
    const [frozen, living] = (await Promise.all([
      installation.start('all', configuration(express)),
      installation.start('all', configuration(express)),
    ])) as [SpillwayProcess, SpillwayProcess];
    installation.simulator.configure(model, { limits: { inflight: INFLIGHT }, latency: { first_token_ms: CALL_MS } });
    const call = async ({ url }: SpillwayProcess, question: string): Promise<string> =>
      (await ask(callerOf(url), 'assistant', question)).text;
    const calls = ['one', 'two', 'three', 'four', 'five'].map(word => call(frozen, `frozen ${word}`));
    await eventually(() => stats()?.accepted === INFLIGHT);
    calls.push(...['one', 'two', 'three', 'four'].map(word => call(living, `living ${word}`)));
    await eventually(async () => (await waitingAt(living)) > 0);

    frozen.kill('SIGSTOP');
    await sleep(2 * LEASE_MS);
    frozen.kill('SIGCONT');

    const answers = await Promise.all(calls);
    const { accepted, refused, peak_inflight: atOnce } = stats() ?? {};
    return {
      answered: answers.filter(answer => answer.length > 0).length,
      accepted,
      refused: refused?.inflight,
      atOnce,
    };
  };

  // Side by side, as most of the time is spent standing still.
  it('never leads to more calls at once than the limit, express or not', async () => {
    const each = { answered: 9, accepted: 9, refused: 0, atOnce: INFLIGHT };
    expect(await Promise.all([true, false].map(freeze))).toEqual([each, each]);
  });
});
