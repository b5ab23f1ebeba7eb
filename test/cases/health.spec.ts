import type { ApiClient, Reply } from '../support/api-client';
import { healthAt } from '../support/health';
import { completion, refusal } from '../support/model-answers';
import { eventually } from '../support/operator';
import { ask, startWorld, type World } from '../support/world';

const BREAKER = { consecutive_failures: 10, open_min_s: 0.3, open_max_s: 0.3 };

let world: World;
let client: ApiClient;

beforeEach(async () => {
  world = await startWorld({ model: { breaker: BREAKER, climb: { mode: 'off' } } });
  ({ client } = world);
  world.fallback.script(() => completion('from fallback'));
});
afterEach(() => world.stop());

const send = (model = 'm-primary'): Promise<Reply> => client.send({ body: ask('x', { model }) });
const stateOf = async (model: string): Promise<string> => (await healthAt(world.gateway, model)).state;
const seen = (): number[] => [world.primary.requests.length, world.fallback.requests.length];

describe('C22 a crowd before a half-open breaker', () => {
  it('is answered by the next model at once, while one probe hangs', async () => {
    world.primary.script(() => refusal(503));
    for (let count = 0; count < BREAKER.consecutive_failures; count++) await send();
    expect(await stateOf('primary')).toBe('open');
    world.primary.script(() => ({ no_response: 'hang' }));
    await eventually(() => world.primary.requests.length === 1);
    const crowd = await Promise.all(Array.from({ length: 50 }, () => send()));
    expect(new Set(crowd.map(({ said }) => said))).toEqual(new Set(['from fallback']));
    expect(world.primary.requests).toHaveLength(1);
  });

  it('opens it again when the probe got no answer in time, and the next probe may come', async () => {
    await world.stop();
    world = await startWorld({ model: { breaker: BREAKER, climb: { mode: 'off' }, timeout_ms: 1_000 } });
    ({ client } = world);
    world.fallback.script(() => completion('from fallback'));
    world.primary.script(() => refusal(503));
    for (let count = 0; count < BREAKER.consecutive_failures; count++) await send();
    world.primary.script([{ no_response: 'hang' }, completion('pong')]);
    await eventually(() => world.primary.requests.length === 1);
    await eventually(async () => (await stateOf('primary')) === 'open');
    await eventually(async () => world.primary.requests.length >= 2 && (await stateOf('primary')) === 'closed');
    expect((await send()).said).toBe('pong');
  });
});

describe('C24 what counts', () => {
  it('is every attempt of every model, and nothing that we refused ourselves', async () => {
    world.primary.script(() => refusal(503));
    world.fallback.script(() => refusal(503));
    for (let count = 0; count < 5; count++) await send();
    const [primary, fallback] = await Promise.all(['primary', 'fallback'].map(model => healthAt(world.gateway, model)));
    expect([primary?.calls, fallback?.calls, primary?.errorRate]).toEqual([5, 5, 1]);
    for (let count = 0; count < 5; count++) await send();
    expect([await stateOf('primary'), await stateOf('fallback')]).toEqual(['open', 'open']);
    for (const upstream of [world.primary, world.fallback]) upstream.script(() => ({ ...refusal(503), ttfb_ms: 800 }));
    const crowd = await Promise.all(Array.from({ length: 20 }, () => send()));
    const refused = crowd.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThanOrEqual(18);
    for (const { headers } of refused) expect(Number(headers.get('retry-after-ms'))).toBeGreaterThan(0);
    for (const model of ['primary', 'fallback']) expect((await healthAt(world.gateway, model)).calls).toBe(10);
  });
});

describe('C01, C07: an account that is spent or not paid', () => {
  it.each([
    ['quota', refusal(429, 'insufficient_quota')],
    ['billing', refusal(402)],
    ['billing', refusal(400, null, 'You have reached your specified API usage limits.')],
  ])('is left alone from the first refusal on: %s', async (why, step) => {
    world.primary.script(() => step);
    for (let count = 0; count < 3; count++) expect((await send()).said).toBe('from fallback');
    expect(seen()).toEqual([1, 3]);
    expect(await healthAt(world.gateway, 'primary')).toMatchObject({ state: 'open', why });
  });
});

describe('A04, C07, C08, row 43: faults of callers', () => {
  it.each([
    ['a bad request', refusal(400)],
    ['a prompt too long', refusal(400, 'context_length_exceeded')],
    ['what cannot be processed', refusal(422)],
    ['something that is not there', refusal(404)],
  ])('leave the breaker as it is: %s', async (_, step) => {
    world.primary.script(() => step);
    for (let count = 0; count < BREAKER.consecutive_failures + 2; count++) await send('alone');
    expect(await healthAt(world.gateway, 'primary')).toMatchObject({ state: 'closed', calls: 0 });
    expect(world.primary.requests).toHaveLength(BREAKER.consecutive_failures + 2);
  });
});

describe('B14: callers that leave', () => {
  it('leave the breaker as it is', async () => {
    world.primary.script(() => ({ no_response: 'hang' }));
    const leave = async (): Promise<void> => {
      const signal = AbortSignal.timeout(60);
      const body = JSON.stringify(ask('x', { model: 'alone' }));
      const headers = { authorization: 'Bearer KEY_A', 'content-type': 'application/json' };
      await fetch(`${world.gateway.url}/v1/chat/completions`, { method: 'POST', headers, body, signal }).catch(
        () => null,
      );
    };
    await Promise.all(Array.from({ length: BREAKER.consecutive_failures + 2 }, leave));
    await eventually(() => world.primary.requests.every(({ closed_at: closedAt }) => closedAt !== null));
    expect(await healthAt(world.gateway, 'primary')).toMatchObject({ state: 'closed', calls: 0 });
  });
});
