import {
  assembleCompletion,
  chunkPart,
  partsOf,
  UpstreamError,
  wholePart,
  type Answer,
  type AnswerPart,
  type Call,
  type JsonObject,
  type KeyedCall,
} from '@spillway/contracts';
import { cacheableCall, completion } from '../../../test/support/cached-calls';
import { ManualClock } from '../../../test/support/manual-clock';
import { MemoryGenerations } from './cache-generations';
import { CacheIdentities } from './cache-identities';
import { ExactCacheStage } from './exact-cache.stage';
import { FillCachesStage } from './fill-caches.stage';
import { MemoryStore } from './memory-store';

/** Of calls that compare nothing. */
const NO_QUESTIONS = { keep: () => Promise.reject(new Error('nothing to keep')) };

type Model = (call: KeyedCall) => Answer;

const generated = (...parts: AnswerPart[]): Answer => ({ outcome: 'generated', parts: partsOf(...parts) });
const says = (content: string): Answer => generated(wholePart(completion({ content })));
const frame = { id: 'c1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'real-primary' };
const chunk = (delta: JsonObject, finish_reason: string | null = null): AnswerPart =>
  chunkPart({ ...frame, choices: [{ index: 0, delta, finish_reason }] });

/** The two stages with a model behind them, as a caller meets them. */
class System {
  readonly clock = new ManualClock();
  readonly generations = new MemoryGenerations();
  readonly lookups: string[] = [];
  maxItemBytes = 10_000;
  calls = 0;
  private readonly store = new MemoryStore({ entries: 100, bytes: 1_000_000 }, this.clock);
  private readonly meter = { lookup: (...counted: string[]) => void this.lookups.push(counted.join(' ')) };
  private readonly exact = new ExactCacheStage(
    this.store,
    new CacheIdentities(this.generations),
    this.clock,
    this.meter,
  );
  private readonly fill = new FillCachesStage(this.store, NO_QUESTIONS, this.clock, () => this.maxItemBytes);

  constructor(public model: Model) {}

  handle(call: Call): Promise<Answer> {
    return this.exact.handle(call, keyed =>
      this.fill.handle(keyed, async ({ ...copy }) => {
        this.calls++;
        copy.journal.model = 'gpt-4o';
        copy.journal.usage = { input: 5, output: 1 };
        return this.model(copy);
      }),
    );
  }

  /** Asks, reads the answer to its end and lets what follows it happen. */
  async ask(call: Call = cacheableCall()): Promise<{ parts: AnswerPart[]; answer: Answer; call: Call }> {
    const answer = await this.handle(call);
    const parts: AnswerPart[] = [];
    for await (const part of answer.parts) parts.push(part);
    await settled();
    return { parts, answer, call };
  }

  /** Whether the same request is answered without the model. */
  async hits(call: Call = cacheableCall()): Promise<boolean> {
    return (await this.ask(call)).call.journal.cache === 'HIT';
  }
}

const settled = (): Promise<void> => new Promise(resolve => setImmediate(() => setImmediate(resolve)));

function textOf({ parts }: { parts: AnswerPart[] }): unknown {
  const [part] = parts as [AnswerPart];
  const [choice] = part.body['choices'] as unknown as [{ message: JsonObject }];
  return choice.message['content'];
}

describe('an answer that was given before', () => {
  it('is given again, at no cost and with its facts', async () => {
    const system = new System(() => says('pong'));
    const first = await system.ask();
    system.clock.time += 12_345;
    const second = await system.ask();

    expect(system.calls).toBe(1);
    expect([first.call.journal.cache, second.call.journal.cache]).toEqual(['MISS', 'HIT']);
    expect(second.answer.outcome).toBe('cache-exact');
    expect(second.call.journal).toMatchObject({
      model: 'gpt-4o',
      usage: null,
      saved: { input: 5, output: 1 },
      attempts: 0,
    });
    expect(second.call.journal.ageS(system.clock.now())).toBe(12);
    expect(system.lookups).toEqual(['exact miss', 'exact hit']);
  });

  it.each<[string, JsonObject]>([
    ['a text with escapes', completion({ content: 'line1\n"quoted" %s \\   </script> \ud83d' })],
    [
      'tool calls with reasoning',
      completion(
        {
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"b\\n"}' } }],
          refusal: null,
          reasoning_content: 'hm',
        },
        'tool_calls',
      ),
    ],
    ['fields nobody knows', { ...completion({ content: 'a', x: { y: [1e-7, -0.5] } }), citations: ['u'] }],
    [
      'two choices',
      {
        ...completion({}),
        choices: [0, 1].map(index => ({
          index,
          message: { role: 'assistant', content: `${index}` },
          finish_reason: 'stop',
        })),
      },
    ],
  ])('keeps %s but for its id and time (D10)', async (_, body) => {
    const system = new System(() => generated(wholePart(body)));
    await system.ask();
    const [hit] = (await system.ask()).parts as [AnswerPart];
    const [again] = (await system.ask()).parts as [AnswerPart];

    expect(system.calls).toBe(1);
    expect(hit.kind).toBe('whole');
    expect(hit.body).toEqual(JSON.parse(hit.json));
    expect(hit.body).toEqual({ ...body, id: expect.stringMatching(/^chatcmpl-./), created: system.clock.time / 1000 });
    expect(hit.json.slice(hit.json.indexOf('"object"'))).toBe(
      JSON.stringify(body).slice(JSON.stringify(body).indexOf('"object"')).replace('"created":1700000000,', ''),
    );
    expect(again.body['id']).not.toBe(hit.body['id']);
  });

  it('is gone when its time is over', async () => {
    const system = new System(() => says('pong'));
    await system.ask(cacheableCall({ controls: { cacheTtlS: 10 } }));
    system.clock.time += 9999;
    expect(await system.hits()).toBe(true);
    system.clock.time += 1;
    expect(await system.hits()).toBe(false);
  });

  it.each<[string, Call]>([
    ['another caller', cacheableCall({ caller: { name: 'other' } })],
    ['another scope', cacheableCall({ controls: { scope: 'product-2' } })],
    ['other betas', cacheableCall({ headers: { 'openai-beta': 'x' } })],
    ['another request', cacheableCall({ body: { model: 'assistant', messages: [] } })],
  ])('is not for %s', async (_, other) => {
    const system = new System(() => says('pong'));
    await system.ask();
    expect(await system.hits(other)).toBe(false);
  });

  it('is given to streaming and other callers alike, however it came', async () => {
    const system = new System(() => generated(chunk({ content: 'po' }), chunk({ content: 'ng' }, 'stop')));
    await system.ask(cacheableCall({ streaming: true, body: { ...cacheableCall().body, stream: true } }));
    const hit = await system.ask();
    expect(hit.call.journal.cache).toBe('HIT');
    expect(textOf(hit)).toBe('pong');
  });
});

describe('an answer on its way', () => {
  it('passes as it is', async () => {
    const parts = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'po' }), chunk({}, 'stop')];
    const system = new System(() => generated(...parts));
    const seen = (await system.ask()).parts;
    expect(seen).toHaveLength(parts.length);
    seen.forEach((part, index) => expect(part).toBe(parts[index]));
  });

  it('is kept when it is a stream with two tool calls under one index (B13)', async () => {
    const call = (id: string, path: string): JsonObject => ({
      index: 0,
      id,
      type: 'function',
      function: { name: 'read_file', arguments: JSON.stringify({ path }) },
    });
    const parts = [
      chunk({ tool_calls: [call('a', 'x')] }),
      chunk({ tool_calls: [call('b', 'y')] }),
      chunk({}, 'tool_calls'),
    ];
    const system = new System(() => generated(...parts));
    await system.ask();
    const hit = await system.ask();
    expect(hit.call.journal.cache).toBe('HIT');
    expect(hit.parts[0]?.body['choices']).toEqual(assembleCompletion(parts.map(part => part.body)).body['choices']);
    expect(hit.parts[0]?.json).toContain('"arguments":"{\\"path\\":\\"y\\"}"');
  });

  it('is kept when it has a finish reason, whatever ends its stream (B07)', async () => {
    const system = new System(() => generated(chunk({ content: 'pong' }), chunk({}, 'stop')));
    await system.ask();
    expect(await system.hits()).toBe(true);
  });

  it.each<[string, () => Answer]>([
    ['an error under status 200 (D05)', () => generated(wholePart({ error: { message: 'x', code: 500 } }))],
    ['an error in a stream (D05)', () => generated(chunkPart({ error: { message: 'x' } }))],
    ['half a stream', () => generated(chunk({ content: 'po' }))],
    ['an answer cut short', () => generated(chunk({ content: 'po' }, 'length'))],
    ['an empty answer', () => generated(chunk({ content: ' ' }, 'stop'))],
    ['a stream that contradicts itself', () => generated(chunk({ content: 'a' }), chunk({ content: [1] }, 'stop'))],
    ['no parts', () => generated()],
    ['a fallback model (D18)', () => ({ ...says('weaker'), outcome: 'fallback-model' })],
    ['a fallback response', () => ({ ...says('sorry'), outcome: 'fallback-response' })],
  ])('is not kept: %s', async (_, model) => {
    const system = new System(model);
    await system.ask();
    system.model = () => says('good');
    const second = await system.ask();
    expect(second.call.journal.cache).toBe('MISS');
    expect(textOf(second)).toBe('good');
    expect(await system.hits()).toBe(true);
  });

  it('is not kept when it turns out to be degraded while it is read', async () => {
    const system = new System(({ journal }) => ({
      outcome: 'generated',
      parts: (async function* () {
        yield chunk({ content: 'a' }, 'stop');
        journal.degraded = 'fallback-model';
      })(),
    }));
    await system.ask();
    expect(await system.hits()).toBe(false);
  });

  it('is not kept when it fails on the way, and fails for its reader', async () => {
    const system = new System(() => ({
      outcome: 'generated',
      parts: (async function* () {
        yield chunk({ content: 'pong' }, 'stop');
        throw new UpstreamError('reset');
      })(),
    }));
    const { parts } = await system.handle(cacheableCall());
    const iterator = parts[Symbol.asyncIterator]();
    await iterator.next();
    await expect(iterator.next()).rejects.toThrow(UpstreamError);
    await expect(iterator.next()).resolves.toMatchObject({ done: true });
    await settled();
    system.model = () => says('good');
    expect(await system.hits()).toBe(false);
  });

  it.each([0, 1, 2])('is not kept when its reader leaves after %i chunks, and its source hears of it', async read => {
    let left = 0;
    const system = new System(() => ({
      outcome: 'generated',
      parts: sourceOf([chunk({ content: 'a' }), chunk({}, 'stop')], () => left++),
    }));
    const iterator = (await system.handle(cacheableCall())).parts[Symbol.asyncIterator]();
    for (let count = 0; count < read; count++) await iterator.next();
    await iterator.return?.();
    await iterator.next();
    await settled();
    expect(left).toBe(1);
    expect(await system.hits()).toBe(false);
  });

  it.each([
    ['whole', (text: string) => generated(wholePart(completion({ content: text })))],
    [
      'streamed',
      (text: string) => generated(...Array.from(text, letter => chunk({ content: letter })), chunk({}, 'stop')),
    ],
  ])('is kept up to the largest size only, %s', async (_, model) => {
    const system = new System(() => model('x'.repeat(700)));
    system.maxItemBytes = 1000;
    await system.ask();
    expect(await system.hits()).toBe(true);

    const other = cacheableCall({ body: { messages: [] } });
    system.model = () => model('x'.repeat(1001));
    expect((await system.ask(other)).parts.map(part => part.json).join('')).toContain('x');
    expect(await system.hits(other)).toBe(false);
  });
});

describe('what a caller asks for', () => {
  it.each<[string, Parameters<typeof cacheableCall>[0], { reads: boolean; writes: boolean }]>([
    ['no-cache', { controls: { cacheRead: false } }, { reads: false, writes: true }],
    ['no-store', { controls: { cacheRead: false, cacheWrite: false } }, { reads: false, writes: false }],
    ['level off', { controls: { cacheLevel: 'off' } }, { reads: false, writes: false }],
    ['a ttl of 0', { controls: { cacheTtlS: 0 } }, { reads: true, writes: false }],
    ['a route without the cache', { cache: { exact: false } }, { reads: false, writes: false }],
  ])('%s is done', async (_, changes, { reads, writes }) => {
    const filled = new System(() => says('pong'));
    await filled.ask();
    const call = (await filled.ask(cacheableCall(changes))).call;
    expect(call.journal.cache).toBe(reads ? 'HIT' : 'BYPASS');

    const empty = new System(() => says('pong'));
    await empty.ask(cacheableCall(changes));
    expect(await empty.hits()).toBe(writes);
  });

  it('never caches embeddings', async () => {
    const system = new System(() => says('pong'));
    const call = (): Call => cacheableCall({ operation: 'embeddings' });
    await system.ask(call());
    expect((await system.ask(call())).call.journal.cache).toBe('BYPASS');
    expect(system.calls).toBe(2);
  });

  it('hands on the key, and none where nothing is shared', async () => {
    const keys: (string | null)[] = [];
    const system = new System(({ cacheKey }) => {
      keys.push(cacheKey);
      return says('pong');
    });
    await system.ask();
    await system.ask(cacheableCall({ operation: 'embeddings' }));
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{43}$/), null]);
  });
});

describe('an answer that is repeated before its request is read', () => {
  const hit = async (system: System): Promise<NonNullable<Answer['repeat']>> => {
    await system.ask();
    const { repeat } = (await system.ask()).answer;
    if (repeat === undefined) throw new Error('no repeat');
    return repeat;
  };
  const replace = async (system: System, content: string): Promise<void> => {
    system.model = () => says(content);
    await system.ask(cacheableCall({ controls: { cacheRead: false } }));
  };

  it('is the one that was given, under an id of its own', async () => {
    const system = new System(() => says('pong'));
    const repeat = await hit(system);
    const [one, other] = [repeat(system.clock.now()), repeat(system.clock.now())];
    expect(one && textOf({ parts: [one] })).toBe('pong');
    expect(one?.body['id']).not.toBe(other?.body['id']);
    expect(system.lookups.slice(-2)).toEqual(['exact hit', 'exact hit']);
  });

  it('is not repeated once another is kept in its place, also within the same millisecond', async () => {
    const system = new System(() => says('pong'));
    const repeat = await hit(system);
    await replace(system, 'other');
    expect(repeat(system.clock.now())).toBeNull();
    const later = await hit(system);
    system.clock.time += 1;
    await replace(system, 'other');
    expect(later(system.clock.now())).toBeNull();
  });

  it('is not repeated once it is cleared, or its time is over', async () => {
    const system = new System(() => says('pong'));
    const cleared = await hit(system);
    await system.generations.clear({});
    expect(cleared(system.clock.now())).toBeNull();
    const expired = await hit(system);
    expect(expired(system.clock.now() + 1)).not.toBeNull();
    system.clock.time += 3_600_000;
    expect(expired(system.clock.now())).toBeNull();
  });
});

describe('clearing', () => {
  it('forgets what was kept, and only there', async () => {
    const system = new System(() => says('pong'));
    const scoped = (): Call => cacheableCall({ controls: { scope: 'product-1' } });
    await system.ask();
    await system.ask(scoped());
    await system.generations.clear({ scope: 'product-1' });
    expect(await system.hits()).toBe(true);
    expect(await system.hits(scoped())).toBe(false);
    expect(await system.hits(scoped())).toBe(true);
  });

  it('also forgets what was on its way', async () => {
    const system = new System(() => says('old'));
    const { parts } = await system.handle(cacheableCall());
    await system.generations.clear({});
    for await (const part of parts) expect(part.kind).toBe('whole');
    await settled();
    expect(await system.hits()).toBe(false);
  });
});

/** Parts whose source hears of a leave even if nothing was read, which a generator would not. */
function sourceOf(parts: AnswerPart[], leave: () => void): AsyncIterable<AnswerPart> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const value = parts.shift();
        return value === undefined ? { done: true, value } : { done: false, value };
      },
      return: async () => {
        leave();
        return { done: true, value: undefined };
      },
    }),
  };
}
