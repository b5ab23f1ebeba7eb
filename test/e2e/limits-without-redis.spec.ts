/** @alone A Redis that is waited for as in production, 100 ms, is lost in earnest only. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startInstallation, type Installation } from '../support/installation';
import { LOSES_REDIS } from '../support/open-redis';
import { eventually } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

/** Until every process knows what all have used: it looks once a second. */
const KNOWN_MS = 2_500;

const configuration = {
  redis: LOSES_REDIS,
  models: {
    used: { provider: 'simulator', limits: { rpm: 40 }, headroom: 0, climb: { mode: 'off' } },
    fresh: { provider: 'simulator', limits: { rpm: 20 }, headroom: 0, climb: { mode: 'off' } },
    regained: { provider: 'simulator', limits: { rpm: 30 }, headroom: 0, climb: { mode: 'off' } },
    slow: { provider: 'simulator', limits: { inflight: 4 }, headroom: 0, climb: { mode: 'off' } },
  },
  priorities: { normal: { share: 1, max_wait_ms: 1_500 } },
};

describe('two gateways that lose Redis under load', () => {
  let installation: Installation;
  let gateways: readonly SpillwayProcess[];

  beforeAll(async () => {
    installation = await startInstallation();
    const { simulator } = installation;
    simulator.configure('used', { limits: { rpm: 40 } });
    simulator.configure('fresh', { limits: { rpm: 20 } });
    simulator.configure('regained', { limits: { rpm: 30 } });
    simulator.configure('slow', { limits: { inflight: 4 }, latency: { first_token_ms: 6_000 } });
    gateways = await Promise.all([installation.start('all', configuration), installation.start('all', configuration)]);
  });
  afterAll(() => installation.stop());

  const ask = (gateway: SpillwayProcess, model: string, calls: number): Promise<number[]> =>
    Promise.all(Array.from({ length: calls }, async () => (await post(gateway, model)).status));
  const post = (gateway: SpillwayProcess, model: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: `${Math.random()}` }], max_tokens: 5 }),
    });
  const askAll = async (model: string, calls: number): Promise<number[]> =>
    (await Promise.all(gateways.map(gateway => ask(gateway, model, calls)))).flat();
  const areAll = async (wanted: string): Promise<boolean> => {
    const states = await Promise.all(gateways.map(async ({ url }) => (await fetch(`${url}/readyz`)).json()));
    return states.every(state => (state as { status: string }).status === wanted);
  };
  const refusedBy = (model: string): number =>
    Object.values(installation.simulator.stats()[model]?.refused ?? {}).reduce((sum, one) => sum + one, 0);

  it('go on within the limits when it is back, as if they had never lost it', async () => {
    await sleep(KNOWN_MS);
    installation.redis.kill('SIGSTOP');
    await eventually(() => areAll('degraded'));
    expect(await askAll('regained', 10)).toEqual(Array.from({ length: 20 }, () => 200));
    installation.redis.kill('SIGCONT');
    await eventually(() => areAll('ok'));
    const later = await askAll('regained', 12);
    expect(refusedBy('regained')).toBe(0);
    expect(later.filter(status => status === 200)).toHaveLength(10);
  }, 40_000);

  it('together keep within the limits of the provider, and use what is left of them', async () => {
    await askAll('used', 25);
    const underWay = askAll('slow', 2);
    await sleep(KNOWN_MS);
    installation.redis.kill('SIGKILL');
    await eventually(() => areAll('degraded'));
    const [used, fresh, slow, before] = await Promise.all([
      askAll('used', 25),
      askAll('fresh', 20),
      askAll('slow', 2),
      underWay,
    ]);
    expect({ used: refusedBy('used'), fresh: refusedBy('fresh'), slow: refusedBy('slow') }).toEqual({
      used: 0,
      fresh: 0,
      slow: 0,
    });
    expect(new Set([...used, ...slow])).toEqual(new Set([504]));
    expect(fresh.filter(status => status === 200)).toHaveLength(20);
    expect(installation.simulator.stats()['used']?.accepted).toBe(40);
    expect(before).toEqual([200, 200, 200, 200]);
    // What ended has made room.
    installation.simulator.configure('slow', { latency: { first_token_ms: 0 } });
    expect(await ask(firstOf(gateways), 'slow', 1)).toEqual([200]);
  }, 40_000);
});

function firstOf([first]: readonly SpillwayProcess[]): SpillwayProcess {
  if (first === undefined) throw new Error('no gateway');
  return first;
}
