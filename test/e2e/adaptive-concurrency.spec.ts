/** @alone What is learned here comes from how long calls take. */
import { ask, callerOf } from '../support/caller';
import { startGateway, type Gateway } from '../support/gateway';
import { completion } from '../support/model-answers';
import { eventually } from '../support/operator';
import { startUpstream, type Upstream } from '../support/scripted-upstream';

const CAPACITY = 10;
const BASE_MS = 150;

interface Effective {
  readonly inflight: number | null;
  readonly why: readonly string[];
}

/** Calls without end, so many at a time, until it is told to stop. */
function load(url: string, path: string, atATime: number): { stop(): Promise<readonly number[]> } {
  let stopped = false;
  const waits: number[] = [];
  const one = async (worker: number): Promise<void> => {
    for (let call = 0; !stopped; call++) {
      const { headers } = await ask(callerOf(url, { path }), 'm', `${path} ${worker} ${call}`);
      waits.push(Number(headers.get('x-spillway-queue-ms')));
    }
  };
  const workers = Array.from({ length: atATime }, (_, worker) => one(worker));
  return {
    stop: async () => {
      stopped = true;
      await Promise.all(workers);
      return waits;
    },
  };
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;

describe('a model without a limit of calls at the same time', () => {
  let upstream: Upstream;
  let gateway: Gateway;

  beforeAll(async () => {
    upstream = await startUpstream(() => ({
      ...completion('ok'),
      ttfb_ms: BASE_MS * Math.max(1, underWay() / CAPACITY),
    }));
    gateway = await startGateway({
      configuration: {
        providers: { p: { base_url: `${upstream.url}/v1` } },
        models: { m: { provider: 'p' } },
      },
    });
  });

  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const underWay = (): number => upstream.requests.filter(({ closed_at }) => closed_at === null).length;
  const effective = async (): Promise<Effective> => {
    const status = (await (await fetch(`${gateway.url}/admin/status`)).json()) as {
      models: Record<string, { effective: Effective }>;
    };
    return status.models['m']?.effective ?? { inflight: NaN, why: [] };
  };
  const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

  it('gets one while its latency suffers, and the most important calls still go first', async () => {
    const calm = load(gateway.url, '/v1', CAPACITY / 2);
    await sleep(2_500);
    await calm.stop();
    expect(await effective()).toMatchObject({ inflight: null, why: [] });

    const flood = load(gateway.url, '/v1', 5 * CAPACITY);
    await eventually(() => underWay() > 2 * CAPACITY);
    await eventually(async () => ((await effective()).inflight ?? Infinity) <= 1.6 * CAPACITY, 20_000);
    await sleep(1_500);
    const important = load(gateway.url, '/critical/v1', 1);
    const seen: number[] = [];
    for (let look = 0; look < 20; look++) {
      await sleep(100);
      seen.push(underWay());
    }
    const settled = await effective();
    const [criticalWaits, normalWaits] = await Promise.all([important.stop(), flood.stop()]);

    expect(settled.why).toEqual(['adaptive']);
    expect(settled.inflight).toBeGreaterThanOrEqual(0.7 * CAPACITY);
    expect(settled.inflight).toBeLessThanOrEqual(1.6 * CAPACITY);
    expect(median(seen)).toBeGreaterThanOrEqual(0.6 * CAPACITY);
    expect(median(seen)).toBeLessThanOrEqual(1.6 * CAPACITY);
    expect(criticalWaits.length).toBeGreaterThan(5);
    expect(median(criticalWaits)).toBeLessThan(median(normalWaits.slice(-100)) / 4);
  }, 60_000);
});
