import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, type Reply } from '../support/api-client';
import { chunk, completion, events, FINISH, stream, text, USAGE } from '../support/model-answers';
import type { Step } from '../support/upstream-step';
import { ask, startWorld, type World } from '../support/world';

let world: World;
let client: ApiClient;
let number = 0;

beforeAll(async () => {
  world = await startWorld({ cache: true, configuration: { cache: { max_item_bytes: 5_000 } } });
  ({ client } = world);
});
afterAll(() => world.stop());
beforeEach(() => world.primary.script(() => completion(`answer ${++number}`)));

const cacheOf = ({ headers }: Reply): string | null => headers.get('x-spillway-cache');

/** Asks twice and says what the cache did the second time. */
async function second(first: object, then: object, headers: Record<string, string> = {}): Promise<string | null> {
  expect(cacheOf(await client.send({ body: first }))).toBe('MISS');
  await sleep(15);
  return cacheOf(await client.send({ body: then, headers }));
}

describe('rows 91, 92 and 93: what shapes an answer is part of its key', () => {
  const schema = (name: string): object => ({
    response_format: { type: 'json_schema', json_schema: { name, schema: { type: 'object' } } },
  });
  const tool = (description: string): object => ({
    tools: [{ type: 'function', function: { name: 'f', description, parameters: {} } }],
  });
  const differences: [string, object, object][] = [
    ['temperature', {}, { temperature: 0 }],
    ['temperature, absent and its default', {}, { temperature: 1 }],
    ['top_p', {}, { top_p: 0.5 }],
    ['max_tokens', { max_tokens: 5 }, { max_tokens: 6 }],
    ['max_completion_tokens', {}, { max_completion_tokens: 6 }],
    ['stop', {}, { stop: ['.'] }],
    ['seed', { seed: 1 }, { seed: 2 }],
    ['n', {}, { n: 2 }],
    ['reasoning_effort', { reasoning_effort: 'low' }, { reasoning_effort: 'high' }],
    ['tool_choice', { tool_choice: 'none' }, { tool_choice: 'auto' }],
    ['tools', tool('one'), tool('other')],
    ['response_format', schema('one'), schema('other')],
    ['logit_bias', {}, { logit_bias: { 5: 1 } }],
    ['a field that nobody knows yet', {}, { thinking_budget: 1 }],
    ['null and absent', {}, { stop: null }],
    [
      'a system message',
      {},
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'same' },
        ],
      },
    ],
    ['the name of a speaker', {}, { messages: [{ role: 'user', name: 'eve', content: 'same' }] }],
  ];

  it.each(differences)('%s', async (name, one, other) => {
    const unique = { metadata_of_test: name };
    expect(await second(ask('same', { ...unique, ...one }), ask('same', { ...unique, ...other }))).toBe('MISS');
  });

  it.each([
    ['user', { user: 'u-1' }],
    ['service_tier', { service_tier: 'flex' }],
    ['metadata', { metadata: { order: '1' } }],
    ['stream_options', { stream_options: { include_usage: true } }],
  ])('but not %s', async (name, other) => {
    expect(await second(ask(`without ${name}`), ask(`without ${name}`, other))).toBe('HIT');
  });

  it('nor the class; but who asks, and in which scope', async () => {
    const body = ask('who and where');
    expect(await second(body, body, { 'x-spillway-priority': 'low' })).toBe('HIT');
    expect(cacheOf(await client.send({ body, headers: { 'x-spillway-scope': 'elsewhere' } }))).toBe('MISS');
    expect(cacheOf(await client.as('KEY_B').send({ body }))).toBe('MISS');
  });
});

describe('rows 97, 104 and 105: only complete answers are kept', () => {
  const cut = (reason: string): object => ({
    choices: [{ index: 0, message: { role: 'assistant', content: 'half' }, finish_reason: reason }],
  });
  const incomplete: [string, Step, boolean][] = [
    ['cut at the length, whole', completion('', cut('length')), false],
    ['cut at the length, streamed', events([text('half'), chunk({}, 'length'), '[DONE]']), true],
    ['filtered', completion('', cut('content_filter')), false],
    ['broken off', events([text('half')], { end: 'reset' }), true],
    ['with an error at its end', events([text('half'), { error: { message: 'x' } }]), true],
    [
      'refused',
      completion('', {
        choices: [{ index: 0, message: { role: 'assistant', content: null, refusal: 'no' }, finish_reason: 'stop' }],
      }),
      false,
    ],
  ];

  it.each(incomplete)('not one %s', async (name, step, streaming) => {
    world.primary.script([step, completion('whole')]);
    const body = ask(`incomplete: ${name}`);
    await (streaming ? client.stream({ body }) : client.send({ body }));
    await sleep(15);
    const again = await client.send({ body });
    expect([cacheOf(again), again.said]).toEqual(['MISS', 'whole']);
  });

  it('a stream after its end, for streaming and other callers', async () => {
    world.primary.script([stream('po', 'ng')]);
    const body = ask('complete stream');
    await client.stream({ body });
    await sleep(15);
    const [whole, streamed] = [await client.send({ body }), await client.stream({ body })];
    expect([whole, streamed].map(reply => [cacheOf(reply), reply.said])).toEqual([
      ['HIT', 'pong'],
      ['HIT', 'pong'],
    ]);
    expect(world.primary.requests).toHaveLength(1);
  });
});

describe('row 106: a replayed stream lacks nothing', () => {
  it('of reasoning, tool calls, usage and reasons', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":"ü\\n"}' } };
    const said = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'Well, ' }),
      chunk({ reasoning_content: 'then.' }),
      text('so '),
      text('be it'),
      chunk({ tool_calls: [{ index: 0, ...call }] }),
      chunk({}, 'tool_calls'),
    ];
    world.primary.script([events([...said, USAGE, '[DONE]'])]);
    const body = ask('rich', { stream_options: { include_usage: true } });
    await client.stream({ body });
    await sleep(15);
    const replayed = await client.stream({ body });
    expect(cacheOf(replayed)).toBe('HIT');
    const deltas = replayed.chunks
      .flatMap(({ choices }) => choices ?? [])
      .map(({ delta }) => delta as Record<string, unknown>);
    const joined = (field: string): string => deltas.map(delta => (delta[field] as string | undefined) ?? '').join('');
    expect([joined('reasoning_content'), replayed.said]).toEqual(['Well, then.', 'so be it']);
    expect(deltas.flatMap(delta => (delta['tool_calls'] as object[] | undefined) ?? [])).toEqual([
      { index: 0, ...call },
    ]);
    expect(replayed.chunks.at(-2)?.choices?.[0]?.finish_reason).toBe('tool_calls');
    expect(replayed.chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } });
    expect(replayed.events.at(-1)?.data).toBe('[DONE]');
    const without = await client.stream({ body: ask('rich') });
    expect([cacheOf(without), without.chunks.some(({ choices }) => choices?.length === 0)]).toEqual(['HIT', false]);
  });
});

describe('row 115: an answer larger than allowed', () => {
  it.each([true, false])('is passed on and not kept, streaming: %s', async streaming => {
    const long = 'x'.repeat(6_000);
    world.primary.script([streaming ? events([text(long), FINISH, '[DONE]']) : completion(long), completion('short')]);
    const body = ask(`large ${streaming}`);
    const first = await (streaming ? client.stream({ body }) : client.send({ body }));
    expect(first.said).toBe(long);
    await sleep(15);
    expect(cacheOf(await client.send({ body }))).toBe('MISS');
  });
});
