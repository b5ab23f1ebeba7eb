import { ApiClient, until, type Reply } from '../support/api-client';
import { completion, events, FINISH, refusal, stream, text, USAGE } from '../support/model-answers';
import type { Step } from '../support/upstream-step';
import { ask, startWorld, type World } from '../support/world';

let world: World;
let client: ApiClient;
let questions = 0;

beforeAll(async () => {
  world = await startWorld({
    cache: true,
    model: { limits: { inflight: 1 } },
    configuration: { routes: { alone: { chain: ['primary'], fallback_response: { low: 'later, please' } } } },
  });
  ({ client } = world);
});
afterAll(() => world.stop());

const slow = (step: Step, ms = 150): Step => ({ ...step, ttfb_ms: ms });
const question = (more: object = {}): object => ask(`question ${++questions}`, more);
const outcomeOf = ({ headers }: Reply): string => headers.get('x-spillway-outcome') ?? '';
const upstreamCalls = (): number => world.primary.requests.length;
const arrived = (calls = 1): Promise<void> => until(() => upstreamCalls() === calls);
const reached = (name: string, labels: Record<string, string>, value: number): Promise<void> =>
  until(async () => (await client.metric(name, labels)) === value);

/** How often each outcome was seen. */
function tally(replies: readonly Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const reply of replies) counts[outcomeOf(reply)] = (counts[outcomeOf(reply)] ?? 0) + 1;
  return counts;
}

/** A call that its caller can give up. */
function leaving(body: object, streaming = false): { leave: () => void; ended: Promise<unknown> } {
  const controller = new AbortController();
  const request = { body, signal: controller.signal };
  const ended = (streaming ? client.stream(request) : client.send(request)).catch((error: unknown) => error);
  return { leave: () => controller.abort(), ended };
}

describe('fifty equal calls at the same time', () => {
  const shapes: [string, (index: number) => boolean][] = [
    ['JSON', () => false],
    ['streams', () => true],
    ['both', index => index % 2 === 0],
  ];

  it.each(shapes)('are one call of the model: %s', async (_, streams) => {
    world.primary.script(({ body }) => slow(body.includes('"stream":true') ? stream('po', 'ng') : completion('pong')));
    const body = question();
    const calls = Array.from({ length: 50 }, (_item, index) =>
      streams(index) ? client.stream({ body }) : client.send({ body }),
    );
    const replies = await Promise.all(calls);
    expect(upstreamCalls()).toBe(1);
    expect(new Set(replies.map(({ status, said }) => `${status} ${said}`))).toEqual(new Set(['200 pong']));
    expect(tally(replies)).toEqual({ generated: 1, coalesced: 49 });
    const shared = replies.find(reply => outcomeOf(reply) === 'coalesced');
    expect(Object.fromEntries(shared?.headers ?? [])).toMatchObject({
      'x-spillway-cache': 'COALESCED',
      'x-spillway-attempts': '0',
      'x-spillway-model': 'primary',
    });
    expect((await client.send({ body })).headers.get('x-spillway-cache')).toBe('HIT');
  });

  it('are counted and logged as what they were', async () => {
    world.primary.script([slow(completion('pong'))]);
    const [outcomes, lookups, saved, used] = await counters();
    const body = question();
    await Promise.all([1, 2, 3].map(() => client.send({ body })));
    expect(await counters()).toEqual([outcomes + 2, lookups + 2, saved + 10, used + 5]);
    const logged = world.gateway.log.lines.filter(({ fields }) => fields['outcome'] === 'coalesced').at(-1);
    expect(logged?.fields).toMatchObject({ cache: 'COALESCED', model: 'primary', attempts: 0, tokens: null });
  });

  const counters = (): Promise<[number, number, number, number]> =>
    Promise.all([
      client.metric('spillway_requests_total', { outcome: 'coalesced' }),
      client.metric('spillway_cache_lookups_total', { level: 'coalesced', result: 'hit' }),
      client.metric('spillway_tokens_saved_total', { direction: 'input' }),
      client.metric('ai_token_consumed_total', { direction: 'input' }),
    ]);

  it.each([
    ['no-store', { 'cache-control': 'no-store' }],
    ['no-cache', { 'cache-control': 'no-cache' }],
    ['the cache off', { 'x-spillway-cache': 'off' }],
    ['another scope each', null],
  ])('are made one by one: %s', async (_, headers) => {
    world.primary.script(() => completion('pong'));
    const body = question();
    const replies = await Promise.all(
      [1, 2, 3].map(scope => client.send({ body, headers: headers ?? { 'x-spillway-scope': String(scope) } })),
    );
    expect(upstreamCalls()).toBe(3);
    expect(tally(replies)).toEqual({ generated: 3 });
  });

  it('of different keys are made one by one', async () => {
    world.primary.script(() => slow(completion('pong'), 30));
    const body = question();
    await Promise.all([client.send({ body }), client.as('KEY_B').send({ body })]);
    expect(upstreamCalls()).toBe(2);
  });
});

describe('a caller that leaves', () => {
  it.each([false, true])('while it leads does not end the call of the others, streaming: %s', async streaming => {
    world.primary.script(() => slow(streaming ? stream('po', 'ng') : completion('pong')));
    const body = question();
    const leader = leaving(body, streaming);
    await arrived();
    const followers = [client.send({ body }), client.stream({ body })];
    await new Promise(resolve => setTimeout(resolve, 30));
    leader.leave();
    expect((await Promise.all(followers)).map(({ said }) => said)).toEqual(['pong', 'pong']);
    expect(upstreamCalls()).toBe(1);
    expect(world.primary.requests[0]?.finished).toBe(true);
  });

  it('while it follows hurts nobody, and the last one ends the call of the model', async () => {
    world.primary.script([events([text('po'), { sleep: 5_000 }, text('ng'), FINISH, USAGE, '[DONE]'])]);
    const body = question();
    const leader = leaving(body, true);
    await arrived();
    const follower = leaving(body, true);
    await new Promise(resolve => setTimeout(resolve, 30));
    follower.leave();
    await new Promise(resolve => setTimeout(resolve, 30));
    expect(world.primary.requests[0]?.closed_at).toBeNull();
    leader.leave();
    await until(() => world.primary.requests[0]?.closed_at !== null);
    expect(world.primary.requests[0]?.finished).toBe(false);
    await reached('spillway_model_inflight', { model: 'primary' }, 0);
  });
});

describe('a failure', () => {
  it('of the model is that of all, each with the fallback of its class', async () => {
    world.primary.script(() => slow(refusal(500)));
    const body = question({ model: 'alone' });
    const [one, two, low] = await Promise.all([
      client.send({ body }),
      client.stream({ body }),
      client.send({ body, path: '/low/v1/chat/completions' }),
    ]);
    expect([one, two].map(({ status, said }) => [status, said])).toEqual([
      [502, 'upstream_error'],
      [502, 'upstream_error'],
    ]);
    expect([low?.said, low && outcomeOf(low)]).toEqual(['later, please', 'fallback-response']);
    expect(upstreamCalls()).toBe(1);
  });

  it('of the leader alone, its deadline, is not that of the others', async () => {
    world.primary.script(() => slow(completion('pong'), 300));
    const body = question();
    const leader = client.send({ body, headers: { 'x-spillway-deadline-ms': '100' } });
    await arrived();
    const follower = await client.send({ body });
    expect([(await leader).status, (await leader).said]).toEqual([504, 'upstream_timeout']);
    expect([follower.said, outcomeOf(follower), upstreamCalls()]).toEqual(['pong', 'coalesced', 1]);
  });
});

describe('a critical call that equals a waiting low one', () => {
  it('is not held behind other low ones', async () => {
    const order: string[] = [];
    const alone = (name: string): object => ask(`question ${name}`, { model: 'alone' });
    world.primary.script(({ body }) => {
      order.push(/question \w+/.exec(body)?.[0] ?? '');
      return slow(completion('pong'), order.length === 1 ? 500 : 5);
    });
    const path = '/low/v1/chat/completions';
    const first = client.send({ body: alone('first'), path });
    await arrived();
    const others = ['a', 'b', 'c'].map(name => client.send({ body: alone(name), path }));
    await reached('spillway_queue_depth', { priority: 'low' }, 3);
    const low = client.send({ body: alone('shared'), path });
    await reached('spillway_queue_depth', { priority: 'low' }, 4);
    const critical = await client.send({ body: alone('shared'), path: '/critical/v1/chat/completions' });
    expect([outcomeOf(critical), outcomeOf(await low)]).toEqual(['generated', 'coalesced']);
    await Promise.all([first, ...others]);
    expect(order.slice(0, 2)).toEqual(['question first', 'question shared']);
    expect(order).toHaveLength(5);
  });
});
