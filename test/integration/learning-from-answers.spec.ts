import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { SimulatedModel } from '../../apps/simulator/src/settings';
import { startSimulator, type Simulator } from '../../apps/simulator/src/simulator';
import { startGateway, type Gateway } from '../support/gateway';

const CLIMB = { interval_s: 0.25, probe_ratio: 0.1, fast_probe_ratio: 0.1 };
const FAMILIES: readonly SimulatedModel['family'][] = ['openai', 'anthropic', 'azure', 'plain', 'ark', 'dashscope'];

interface Count {
  readonly accepted: number;
  readonly refused: number;
}

/** Nothing is configured of the limits that the simulator keeps: they are learned from what it answers. */
describe('Learning from answers', () => {
  let simulator: Simulator;
  let gateway: Gateway;

  beforeEach(async () => {
    simulator = await startSimulator({ defaultModel: { latency: { first_token_ms: 30, tokens_per_s: 0 } } });
  });
  afterEach(() => Promise.all([gateway.stop(), simulator.close()]));

  const start = async (models: readonly string[], climb: object): Promise<void> => {
    const settings = models.map(model => [model, { provider: 'simulator', climb: { ...CLIMB, ...climb } }]);
    gateway = await startGateway({
      configuration: {
        redis: { prefix: `learning-${randomUUID()}` },
        providers: { simulator: { base_url: simulator.url } },
        models: Object.fromEntries(settings),
        priorities: { normal: { max_wait_ms: 3000 } },
      },
      env: { REDIS_URL: process.env['SPILLWAY_TEST_REDIS_URL'] ?? '' },
    });
  };
  const ask = async (model: string): Promise<number> => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello?' }], max_tokens: 5 }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const learned = async (model: string): Promise<{ rate: number | null; why: string | null }> => {
    const response = await fetch(`${gateway.url}/admin/status`);
    const { models } = (await response.json()) as {
      models: Record<string, { learned: { rate: number | null; why: string | null } }>;
    };
    return models[model]?.learned ?? { rate: null, why: null };
  };
  const count = (model: string): Count => {
    const stats = simulator.stats()[model];
    return {
      accepted: stats?.accepted ?? 0,
      refused: Object.values(stats?.refused ?? {}).reduce((sum, one) => sum + one, 0),
    };
  };
  /** `callers` ask one thing after the other for so long; returns what the simulator did meanwhile. */
  const drive = async (model: string, callers: number, ms: number): Promise<Count> => {
    const before = count(model);
    const end = Date.now() + ms;
    const caller = async (): Promise<void> => {
      while (Date.now() < end) if ((await ask(model)) !== 200) await pause(100);
    };
    await Promise.all(Array.from({ length: callers }, caller));
    const after = count(model);
    return { accepted: after.accepted - before.accepted, refused: after.refused - before.refused };
  };

  it('is refused far less by providers of every family than callers that do not learn, and still served', async () => {
    await start(FAMILIES, { interval_s: 0.5 });
    // 10 calls a second; callers that are refused would try 60 times a second.
    for (const family of FAMILIES) simulator.configure(family, { limits: { rpm: 20 }, window_s: 2, family });
    const all = (): Promise<Count[]> => Promise.all(FAMILIES.map(family => drive(family, 6, 4500)));
    await all();
    const later = await all();
    for (const [at, { accepted, refused }] of later.entries()) {
      // Without learning five calls are refused for each that is accepted.
      const told = ['openai', 'anthropic', 'plain'].includes(FAMILIES[at] ?? '');
      const perAccepted = refused / accepted;
      expect({ family: FAMILIES[at], perAccepted, isFew: perAccepted <= (told ? 0.1 : 0.5) }).toMatchObject({
        isFew: true,
      });
      expect(accepted).toBeGreaterThanOrEqual(11);
    }
  });

  it('climbs back when the provider has room again', async () => {
    await start(['m'], {});
    simulator.configure('m', { limits: { inflight: 2 }, latency: { first_token_ms: 100 }, family: 'dashscope' });
    await drive('m', 10, 2500);
    const { rate: tight } = await learned('m');
    simulator.configure('m', { limits: { inflight: 0 } });
    const { refused } = await drive('m', 10, 2500);
    expect(refused).toBe(0);
    expect(tight).not.toBeNull();
    expect((await learned('m')).rate).toBeGreaterThan((tight ?? Infinity) * 1.5);
  });

  it('starts cold where it is on, and climbs', async () => {
    await start(['m'], { mode: 'on', initial_rps: 5 });
    // A burst of one second and what the rate admits in one.
    expect((await drive('m', 10, 1000)).accepted).toBeLessThanOrEqual(30);
    await drive('m', 10, 2000);
    expect((await learned('m')).rate).toBeGreaterThan(8);
  });

  it('does not grow after a refusal for the slope', async () => {
    await start(['m'], { mode: 'on', initial_rps: 20, interval_s: 0.1 });
    simulator.configure('m', { family: 'ark', faults: [{ kind: 'status', reason: 'growth', times: 1 }] });
    await drive('m', 10, 1000);
    expect((await learned('m')).rate).toBeLessThanOrEqual(20);
    await drive('m', 10, 2000);
    expect((await learned('m')).rate).toBeGreaterThan(20);
  });

  it('tells its rate in the metrics', async () => {
    await start(['m'], { mode: 'on', initial_rps: 7 });
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(text).toContain('spillway_model_rate{model="m"} 7');
  });
});
