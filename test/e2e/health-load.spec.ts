import { callerOf, ask } from '../support/caller';
import type { Gateway } from '../support/gateway';
import { startGateways, type Gateways } from '../support/gateways';
import { healthAt } from '../support/health';
import { completion, refusal } from '../support/model-answers';
import { eventually, waitingAt } from '../support/operator';
import type { Upstream } from '../support/scripted-upstream';

/** Which model a class is given when the best is not well, or too many calls wait. */
describe('whom a call asks', () => {
  let gateways: Gateways;
  let best: Upstream;
  let gateway: Gateway;

  beforeAll(async () => {
    gateways = await startGateways();
    best = gateways.first;
  });
  beforeEach(() => {
    best.script(() => completion('best'));
    gateways.second.script(() => completion('cheap'));
  });
  afterEach(() => gateways.clear());
  afterAll(() => gateways.stop());

  const start = async (model: object, more: object = {}, chain = ['best', 'cheap']): Promise<void> => {
    gateway = await gateways.start({
      models: { best: { provider: 'one', ...model }, cheap: { provider: 'two' } },
      routes: {
        assistant: { chain, shed_to: { normal: 'cheap', low: 'cheap' }, cache: { exact: false, semantic: false } },
      },
      ...more,
    });
  };
  const call = async (priority: 'critical' | 'normal' | 'low', signal?: AbortSignal): Promise<string> => {
    const caller = callerOf(gateway.url, { path: `/${priority}/v1` });
    const { text } = await ask(caller, 'assistant', `for ${priority}?`, signal === undefined ? {} : { signal });
    return text;
  };

  it('while the best is degraded CRITICAL keeps it, NORMAL moves on, and probes bring it back', async () => {
    await start({ breaker: { min_requests: 10, window_s: 6, open_min_s: 0.3 } });
    for (let count = 0; count < 8; count++) await call('normal');
    best.script(() => refusal(500));
    for (let count = 0; count < 2; count++) await call('normal');
    best.script(() => completion('best'));
    expect(await healthAt(gateway, 'best')).toMatchObject({ state: 'degraded', why: 'error-rate', errorRate: 0.2 });
    expect([await call('critical'), await call('normal')]).toEqual(['best', 'cheap']);
    await eventually(async () => (await healthAt(gateway, 'best')).state === 'closed');
    expect(await call('normal')).toBe('best');
  });

  it('a model that has become slow is used less before it fails', async () => {
    await start({ breaker: { window_s: 2, min_requests: 3, open_min_s: 30 } });
    for (let count = 0; count < 20; count++) await call('critical');
    best.script(() => ({ ...completion('best'), ttfb_ms: 2_500 }));
    await eventually(async () => {
      await Promise.all([call('critical'), call('critical'), call('critical'), call('critical')]);
      return (await healthAt(gateway, 'best')).state === 'degraded';
    }, 20_000);
    expect(await healthAt(gateway, 'best')).toMatchObject({ why: 'slow', errorRate: 0 });
    expect(await call('normal')).toBe('cheap');
  });

  it('under high load NORMAL and LOW go where they are shed to, CRITICAL does not, and it ends with the load', async () => {
    await start({ limits: { inflight: 1 }, headroom: 0 }, { high_load: { normal_queue: 2, low_queue: 2 } }, ['best']);
    best.script(() => ({ no_response: 'hang' }));
    const gone = new AbortController();
    const waiting = Array.from({ length: 5 }, () => call('normal', gone.signal).catch(() => null));
    await eventually(async () => (await waitingAt(gateway)) === 4);
    await eventually(async () => (await call('low', AbortSignal.timeout(300)).catch(() => null)) === 'cheap');
    expect(await call('normal')).toBe('cheap');
    expect(await call('critical', AbortSignal.timeout(300)).catch(() => 'waits')).toBe('waits');
    gone.abort();
    await Promise.all(waiting);
    best.script(() => completion('best'));
    await eventually(
      async () => (await call('normal', AbortSignal.timeout(1_000)).catch(() => null)) === 'best',
      4_000,
    );
  });
});
