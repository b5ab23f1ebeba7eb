import { ask, callerOf, failureOf } from '../support/caller';
import type { Gateway } from '../support/gateway';
import { startGateways, type Gateways } from '../support/gateways';
import { healthAt, operate } from '../support/health';
import { completion, refusal } from '../support/model-answers';
import { eventually } from '../support/operator';
import type { Upstream } from '../support/scripted-upstream';

const OPEN_MIN_S = 0.4;
const BREAKER = { min_requests: 5, consecutive_failures: 3, open_min_s: OPEN_MIN_S, open_max_s: 2 };

describe('the health of models', () => {
  let gateways: Gateways;
  let first: Upstream;
  let second: Upstream;

  beforeAll(async () => {
    gateways = await startGateways();
    ({ first, second } = gateways);
  });
  beforeEach(() => {
    first.script(() => completion('from first'));
    second.script(() => completion('from second'));
  });
  afterEach(() => gateways.clear());
  afterAll(() => gateways.stop());

  const configuration = {
    models: { first: { provider: 'one', breaker: BREAKER }, second: { provider: 'two', breaker: BREAKER } },
    routes: { assistant: { chain: ['first', 'second'], cache: { exact: false, semantic: false } } },
  };
  const start = (): Promise<Gateway> => gateways.start(configuration);
  const startShared = (): Promise<Gateway> => gateways.startShared(configuration);
  const call = async ({ url }: Gateway, model = 'assistant', path = '/v1') => {
    const { text, headers } = await ask(callerOf(url, { path }), model, 'how are you?');
    return { text, attempts: headers.get('x-spillway-attempts'), degraded: headers.get('x-spillway-degraded') };
  };
  const kill = async (gateway: Gateway): Promise<void> => {
    first.script(() => refusal(500));
    for (let count = 0; count < BREAKER.consecutive_failures; count++) await call(gateway);
  };
  const stateAt = async (gateway: Gateway): Promise<string> => (await healthAt(gateway, 'first')).state;
  const changes = (gateway: Gateway): unknown[] =>
    gateway.log.lines.filter(({ message }) => message?.includes('health')).map(({ fields }) => fields['to']);

  it('a model that fails is left out, and a call then costs no attempt there', async () => {
    const gateway = await start();
    expect(await call(gateway)).toEqual({ text: 'from first', attempts: '1', degraded: null });
    await kill(gateway);
    expect(await healthAt(gateway, 'first')).toMatchObject({ state: 'open', why: 'consecutive-failures' });
    expect(await call(gateway)).toEqual({ text: 'from second', attempts: '1', degraded: 'fallback-model' });
    expect(changes(gateway)).toEqual(['open']);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/^circuit_breaker_state\{service="first"\} 1$/m);
    expect(metrics).toMatch(/^circuit_breaker_state\{service="second"\} 0$/m);
    expect(metrics).toMatch(/^circuit_breaker_changes_total\{service="first",state="open"\} 1$/m);
  });

  it('heals without traffic within a second of its open time', async () => {
    const gateway = await start();
    await kill(gateway);
    first.script(() => completion('from first'));
    await eventually(async () => (await call(gateway)).text === 'from first', (OPEN_MIN_S + 1) * 1000 + 3_000);
    await eventually(async () => (await stateAt(gateway)) === 'closed');
    expect(changes(gateway)).toEqual(['open', 'half-open', 'closed']);
  });

  it('a hanging model gets one probe, and everybody else is answered by the next at once', async () => {
    const gateway = await start();
    await kill(gateway);
    first.script(() => ({ no_response: 'hang' }));
    await eventually(async () => (await stateAt(gateway)) === 'half-open');
    await eventually(() => first.requests.length === 1);
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(gateway)));
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['from second']));
    expect(first.requests).toHaveLength(1);
  });

  it('a LOW call is the probe where one comes', async () => {
    const gateway = await start();
    await kill(gateway);
    first.script(() => completion('from first'));
    await eventually(async () => (await call(gateway, 'assistant', '/low/v1')).text === 'from first');
    expect(JSON.parse(first.requests[0]?.body ?? '{}')).toMatchObject({ messages: [{ content: 'how are you?' }] });
  });

  it('is shared by all processes, told once, and outlives them', async () => {
    const [one, other] = [await startShared(), await startShared()];
    first.script(() => refusal(401));
    await call(one);
    await eventually(async () => (await stateAt(other)) === 'open');
    expect((await call(other)).attempts).toBe('1');
    await Promise.all([one.stop(), other.stop()]);
    expect([...changes(one), ...changes(other)]).toEqual(['open']);
    const later = await startShared();
    expect(await healthAt(later, 'first')).toMatchObject({ state: 'open', why: 'auth' });
    expect((await call(later)).text).toBe('from second');
  });

  it.each([
    ['a refused key', refusal(401), 'auth'],
    ['a spent quota', refusal(429, 'insufficient_quota'), 'quota'],
    ['an unpaid bill', refusal(402), 'billing'],
  ])('%s opens at once and says why', async (_, step, why) => {
    const gateway = await start();
    first.script(() => step);
    await call(gateway);
    const health = await healthAt(gateway, 'first');
    expect(health).toMatchObject({ state: 'open', why });
    expect(health.nextProbeMs).toBeGreaterThan(1_000);
  });

  it('a model that its provider does not know opens at once', async () => {
    const gateway = await start();
    first.script(() => refusal(404, 'model_not_found'));
    expect((await failureOf(call(gateway))).status).toBe(404);
    expect(await healthAt(gateway, 'first')).toMatchObject({ state: 'open', why: 'unknown-model' });
    expect((await call(gateway)).text).toBe('from second');
  });

  it('neither limits nor faults of callers ever open it', async () => {
    const gateway = await start();
    for (const step of [refusal(429, 'rate_limit_exceeded'), refusal(400), refusal(429, 'slow_down')]) {
      first.script(() => step);
      for (let count = 0; count < 8; count++) await call(gateway).catch(() => undefined);
    }
    expect(await healthAt(gateway, 'first')).toMatchObject({ state: 'closed', errorRate: 0 });
  });

  it('where all are down the least bad is tried, by one call at a time', async () => {
    const gateway = await start();
    first.script(() => refusal(500));
    second.script(() => refusal(500));
    for (let count = 0; count < BREAKER.consecutive_failures; count++) await failureOf(call(gateway));
    for (const upstream of [first, second]) upstream.script(() => ({ ...completion('back'), ttfb_ms: 1_000 }));
    const ends = await Promise.allSettled(Array.from({ length: 10 }, () => call(gateway)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = ends.find(end => end.status === 'rejected');
    expect(refused?.reason).toMatchObject({ status: 503, code: 'no_model_available' });
  });

  it('a paused model is called by nobody, in any process, until it is resumed', async () => {
    const [one, other] = [await startShared(), await startShared()];
    expect(await operate(one, 'nobody', 'pause')).toMatchObject({ status: 404 });
    const paused = await operate(one, 'first', 'pause');
    expect(paused).toMatchObject({ status: 200, body: { state: 'closed' } });
    expect(paused.body.pausedSince).not.toBeNull();
    await eventually(async () => (await call(other)).text === 'from second');
    await operate(other, 'second', 'pause');
    await eventually(async () => (await healthAt(one, 'second')).pausedSince !== null);
    expect(await failureOf(call(one))).toMatchObject({ status: 503, code: 'no_model_available' });
    await operate(one, 'first', 'resume');
    expect((await call(one)).text).toBe('from first');
    await eventually(async () => (await call(other).catch(() => null))?.text === 'from first');
  });

  it('a reset closes it', async () => {
    const gateway = await start();
    first.script(() => refusal(401));
    await call(gateway);
    first.script(() => completion('from first'));
    expect(await operate(gateway, 'first', 'reset')).toMatchObject({
      status: 200,
      body: { state: 'closed', why: null },
    });
    expect((await call(gateway)).text).toBe('from first');
  });
});
