import { partsOf, wholePart, type Call, type JsonObject } from '@spillway/contracts';
import fc from 'fast-check';
import {
  completion,
  questionCall as call,
  readToTheEnd,
  type CallChanges as Changes,
} from '../../../test/support/cached-calls';
import { ManualClock } from '../../../test/support/manual-clock';
import { MemoryGenerations } from './cache-generations';
import { canonicalRequestKey } from './canonical-request-key';
import { CacheIdentities } from './cache-identities';
import { ExactCacheStage } from './exact-cache.stage';
import { FillCachesStage } from './fill-caches.stage';
import { MemoryStore } from './memory-store';
import { readQuestion } from './question';

const QUESTION = 'How do I reset my password?';
const REWORDED = 'Please, how can I reset my password';

/** The two stages with a model behind them. */
class System {
  readonly lookups: string[] = [];
  readonly generations = new MemoryGenerations();
  private readonly clock = new ManualClock();
  private readonly store = new MemoryStore({ entries: 100, bytes: 1_000_000 }, this.clock);
  private readonly meter = { lookup: (...counted: string[]) => void this.lookups.push(counted.join(' ')) };
  private readonly exact = new ExactCacheStage(
    this.store,
    new CacheIdentities(this.generations),
    this.clock,
    this.meter,
  );
  private readonly fill = new FillCachesStage(this.store, { keep: async () => undefined }, this.clock, () => 10_000);

  /** What answered: the journal's status and tier. */
  async ask(asked: Call): Promise<string> {
    const answer = await this.exact.handle(asked, keyed =>
      this.fill.handle(keyed, async () => ({
        outcome: 'generated',
        parts: partsOf(wholePart(completion({ content: 'so' }))),
      })),
    );
    return readToTheEnd(answer, asked);
  }

  async askAfter(first: Call, second: Call): Promise<string> {
    await this.ask(first);
    return this.ask(second);
  }
}

describe('a question that was asked in other function words', () => {
  it('is answered, and says from which tier', async () => {
    const system = new System();
    expect(await system.askAfter(call(QUESTION), call(REWORDED))).toBe('HIT canonical');
    expect(system.lookups).toEqual(['exact miss', 'canonical miss', 'exact miss', 'canonical hit']);
  });

  it('is not even read when the same words were asked', async () => {
    const system = new System();
    expect(await system.askAfter(call(QUESTION), call(QUESTION))).toBe('HIT exact');
    expect(system.lookups.at(-1)).toBe('exact hit');
  });

  it('is looked up together with its own words, in one turn of the event loop', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore({ entries: 100, bytes: 1_000_000 }, clock);
    const looking = jest.spyOn(store, 'get').mockReturnValue(new Promise(() => undefined));
    const stage = new ExactCacheStage(store, new CacheIdentities(new MemoryGenerations()), clock);
    void stage.handle(call(QUESTION), () => Promise.reject(new Error('nothing is known yet')));
    expect(new Set(looking.mock.calls.flat()).size).toBe(2);
  });

  it('is asked anew where the route keeps nothing under a key', async () => {
    const cache = { exact: false };
    expect(await new System().askAfter(call(QUESTION, { cache }), call(QUESTION, { cache }))).not.toMatch('HIT');
  });

  it('is answered from content parts as from text', async () => {
    const parts = call('', { body: { messages: [{ role: 'user', content: [{ type: 'text', text: QUESTION }] }] } });
    const others = call('', { body: { messages: [{ role: 'user', content: [{ type: 'text', text: REWORDED }] }] } });
    expect(await new System().askAfter(parts, others)).toBe('HIT canonical');
  });

  it.each<[string, Changes]>([
    ['the exact cache at most', { controls: { cacheLevel: 'exact' } }],
    ['no cache', { controls: { cacheLevel: 'off' } }],
    ['a fresh answer', { controls: { cacheRead: false } }],
    ['another scope', { controls: { scope: 'product-2' } }],
    ['another caller', { caller: { name: 'other' } }],
    ['other betas', { headers: { 'openai-beta': 'x' } }],
    ['another temperature', { body: { temperature: 0.1 } }],
    ['a route that compares nothing', { cache: { semantic: false } }],
    ['a route in shadow', { cache: { semantic: 'shadow' } }],
  ])('is not answered for who wants %s, before or after', async (_, changes) => {
    expect(await new System().askAfter(call(QUESTION), call(REWORDED, changes))).not.toContain('HIT');
    if (changes.controls?.cacheRead === false) return;
    expect(await new System().askAfter(call(QUESTION, changes), call(REWORDED))).not.toContain('HIT');
  });

  it('is gone when the cache is cleared', async () => {
    const system = new System();
    await system.ask(call(QUESTION));
    await system.generations.clear({});
    expect(await system.ask(call(REWORDED))).toBe('MISS');
  });

  it('is not answered where a rule refuses it, which the journal names', async () => {
    const [first, second] = [call('What is my balance?'), call('So what is my balance')];
    expect(await new System().askAfter(first, second)).toBe('MISS');
    expect(second.journal.cacheRule).toBe('personal');
    const cache = { rules: { personal: false } };
    const open = [call('What is my balance?', { cache }), call('So what is my balance', { cache })] as const;
    expect(await new System().askAfter(...open)).toBe('HIT canonical');
  });

  it('is another one in another conversation (D08)', async () => {
    const turn = (system: string): Call =>
      call('', {
        body: {
          messages: [
            { role: 'system', content: system },
            { role: 'user', content: 'yes please' },
          ],
        },
      });
    expect(await new System().askAfter(turn('You sell shoes'), turn('You are a bank'))).toBe('MISS');
  });
});

it('keys of different callers, scopes, routes, generations and requests are never the same', () => {
  const few = fc.constantFrom('a', 'b', 'ab', '', '"a"', 'a","b');
  const identities = fc.record({
    namespace: few,
    scope: few,
    route: few,
    generation: few,
    beta: fc.option(few, { nil: undefined }),
    system: few,
    temperature: fc.constantFrom(0, 1),
    question: fc.constantFrom(QUESTION, REWORDED, 'Is it waterproof?', 'Is it not waterproof?'),
  });
  const keyOf = ({ system, temperature, question, ...identity }: Parameters<typeof nameOf>[0]): string | null => {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: question },
    ];
    const body: JsonObject = { messages, temperature };
    const asked = readQuestion({ ...identity, body }, {});
    if (asked.question === null || asked.canonical === null) return null;
    return canonicalRequestKey({ ...identity, body }, asked.question.fingerprint, asked.canonical);
  };
  fc.assert(
    fc.property(identities, identities, (a, b) => {
      expect(keyOf(a)).not.toBeNull();
      expect(keyOf(a) === keyOf(b)).toBe(nameOf(a) === nameOf(b));
    }),
    { numRuns: 1000 },
  );
});

interface Identity {
  readonly namespace: string;
  readonly scope: string;
  readonly route: string;
  readonly generation: string;
  readonly beta: string | undefined;
  readonly system: string;
  readonly temperature: number;
  readonly question: string;
}

function nameOf(identity: Identity): string {
  const { namespace, scope, route, generation, beta, system, temperature, question } = identity;
  const asked = question === REWORDED ? QUESTION : question;
  return JSON.stringify([namespace, scope, route, generation, beta ?? null, system, temperature, asked]);
}
