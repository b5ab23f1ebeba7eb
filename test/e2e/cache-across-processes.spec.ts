import type OpenAI from 'openai';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, askForStream, callerOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import type { SpillwayProcess } from '../support/spillway';

const KEYS = { shop: 'sk-shop-0123456789', other: 'sk-other-0123456789' };
const CONFIGURATION = {
  models: { m: { provider: 'simulator' } },
  routes: { assistant: { chain: ['m'] }, search: { chain: ['m'] } },
  keys: Object.entries(KEYS).map(([name, key]) => ({ name, key })),
};
/** Enough for what is written after an answer, or read twice a second, to be known everywhere. */
const SETTLED_MS = 900;

describe('the exact cache, shared by processes', () => {
  let installation: Installation;
  let gateways: readonly [SpillwayProcess, SpillwayProcess];
  let one: OpenAI;
  let other: OpenAI;
  let questions = 0;

  beforeAll(async () => {
    installation = await startInstallation();
    const start = (role: 'gateway' | 'worker'): Promise<SpillwayProcess> => installation.start(role, CONFIGURATION);
    const [first, second] = await Promise.all([start('gateway'), start('gateway'), start('worker')]);
    gateways = [first, second];
    one = callerOf(first.url, { key: KEYS.shop });
    other = callerOf(second.url, { key: KEYS.shop });
  });

  afterAll(() => installation.stop());
  beforeEach(() => installation.simulator.reset());

  const upstreamCalls = (): number => installation.simulator.requests().length;
  const newQuestion = (): string => `question ${++questions}`;
  const written = (): Promise<void> => sleep(200);
  const clear = async (query = ''): Promise<void> => {
    const response = await fetch(`${gateways[0].url}/admin/cache${query}`, { method: 'DELETE' });
    expect(response.status).toBe(200);
  };
  const cacheOf = async (caller: OpenAI, question: string, headers = {}, model = 'assistant'): Promise<string> =>
    (await ask(caller, model, question, { headers })).headers.get('x-spillway-cache') ?? '';

  it('answers the same question through another gateway without a second call of the model', async () => {
    const question = newQuestion();
    const asked = await ask(one, 'assistant', question);
    await sleep(1_100);
    const again = await ask(other, 'assistant', question);
    expect(upstreamCalls()).toBe(1);
    expect(again.text).toBe(asked.text);
    expect(again.completion.id).not.toBe(asked.completion.id);
    expect(again.completion.created).toBeGreaterThan(asked.completion.created);
    expect(again.completion).toEqual({
      ...asked.completion,
      id: again.completion.id,
      created: again.completion.created,
    });
    expect(Object.fromEntries(again.headers)).toMatchObject({
      'x-spillway-outcome': 'cache-exact',
      'x-spillway-cache': 'HIT',
      'x-spillway-model': 'm',
      'x-spillway-attempts': '0',
      age: '1',
    });
  });

  it('answers as JSON what was streamed, and as a stream what was JSON', async () => {
    const [streamed, plain] = [newQuestion(), newQuestion()];
    const first = await askForStream(one, 'assistant', streamed);
    const second = await ask(one, 'assistant', plain);
    await written();
    const asJson = await ask(other, 'assistant', streamed);
    const asStream = await askForStream(other, 'assistant', plain);
    expect(upstreamCalls()).toBe(2);
    expect(asJson.text).toBe(first.text);
    expect(asJson.completion).toMatchObject({ object: 'chat.completion', choices: [{ finish_reason: 'stop' }] });
    expect(asStream.text).toBe(second.text);
    expect(asStream.chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(asJson.headers.get('x-spillway-cache')).toBe('HIT');
    expect(asStream.headers.get('x-spillway-cache')).toBe('HIT');
  });

  it('keeps callers, scopes and routes apart', async () => {
    const question = newQuestion();
    await ask(one, 'assistant', question, { headers: { 'x-spillway-scope': 'shoes' } });
    await written();
    expect(
      await cacheOf(callerOf(gateways[0].url, { key: KEYS.other }), question, { 'x-spillway-scope': 'shoes' }),
    ).toBe('MISS');
    expect(await cacheOf(one, question)).toBe('MISS');
    expect(await cacheOf(one, question, { 'x-spillway-scope': 'hats' })).toBe('MISS');
    expect(await cacheOf(one, question, { 'x-spillway-scope': 'shoes' }, 'search')).toBe('MISS');
    expect(await cacheOf(other, question, { 'x-spillway-scope': 'shoes' })).toBe('HIT');
  });

  it('obeys its caller', async () => {
    const question = newQuestion();
    expect(await cacheOf(one, question, { 'cache-control': 'no-store' })).toBe('BYPASS');
    await written();
    expect(await cacheOf(other, question)).toBe('MISS');
    await written();
    expect(await cacheOf(one, question, { 'cache-control': 'no-cache' })).toBe('BYPASS');
    expect(await cacheOf(one, question, { 'x-spillway-cache': 'off' })).toBe('BYPASS');
    expect(await cacheOf(one, question)).toBe('HIT');
  });

  it('forgets an answer when its time is over', async () => {
    const question = newQuestion();
    await ask(one, 'assistant', question, { headers: { 'x-spillway-cache-ttl': '1' } });
    await written();
    expect(await cacheOf(other, question)).toBe('HIT');
    await sleep(1_100);
    expect(await cacheOf(one, question)).toBe('MISS');
    expect(await cacheOf(other, newQuestion())).toBe('MISS');
  });

  it('is cleared everywhere: one scope, one route, or all of it', async () => {
    const question = newQuestion();
    const scoped = { 'x-spillway-scope': 'shoes' };
    const fill = async (): Promise<void> => {
      for (const caller of [one, other]) {
        await ask(caller, 'assistant', question);
        await ask(caller, 'assistant', question, { headers: scoped });
        await ask(caller, 'search', question);
        await written();
      }
    };
    const states = (): Promise<string[]> =>
      Promise.all([cacheOf(other, question), cacheOf(other, question, scoped), cacheOf(other, question, {}, 'search')]);
    await fill();
    await clear('?scope=shoes');
    await sleep(SETTLED_MS);
    expect(await states()).toEqual(['HIT', 'MISS', 'HIT']);
    await clear('?route=search');
    await sleep(SETTLED_MS);
    expect(await states()).toEqual(['HIT', 'HIT', 'MISS']);
    await clear();
    await sleep(SETTLED_MS);
    expect(await states()).toEqual(['MISS', 'MISS', 'MISS']);
  });
});
