import { chunkPart, partsOf, wholePart, type Answer, type Call, type JsonObject } from '@spillway/contracts';
import {
  completion,
  questionCall as call,
  readToTheEnd,
  type CallChanges as Changes,
} from '../../../test/support/cached-calls';
import { CapturedLog } from '../../../test/support/captured-log';
import { ManualClock } from '../../../test/support/manual-clock';
import { reuseDesk } from '../../../test/support/reuse';
import { randomFrom } from '../../../test/support/vectors';
import { MemoryGenerations } from './cache-generations';
import { CacheIdentities, type CacheShare } from './cache-identities';
import { ExactCacheStage } from './exact-cache.stage';
import { FillCachesStage } from './fill-caches.stage';
import { MemoryStore } from './memory-store';
import { SemanticCacheStage } from './semantic-cache.stage';
import { SimilarQuestions } from './similar-questions';
import type { ReuseDesk } from './trust/reuse-desk';
import { BuiltinEmbedder } from './vectors/builtin-embedder';
import { EmbeddedIndex } from './vectors/embedded-index';
import { Embedder } from './vectors/embedder';

const QUESTION = 'How do I log in to the portal?';
const POLITE = 'Please, how can I log in to the portal';
const REWORDED = 'How do I sign into the portal?';
const ANOTHER = 'How do I log out of the portal?';

/** Scores pairs of texts as a test says, from the first text on. */
class ScriptedEmbedder extends Embedder {
  readonly id = 'scripted';
  readonly dimension = 3;
  readonly similarityThreshold = 0.92;
  readonly candidateThreshold = 0.5;
  readonly defaultGuard = 'balanced';
  embedded = 0;

  /** Cosines with a first question, which need not be named; all else is at right angles to it. */
  constructor(private readonly cosines: Readonly<Record<string, number>>) {
    super();
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    this.embedded += texts.length;
    return texts.map(text => {
      const cosine = this.cosines[text] ?? 0;
      return Float32Array.of(cosine, Math.sqrt(1 - cosine * cosine), 0);
    });
  }
}

class LostEmbedder extends BuiltinEmbedder {
  override embed(): Promise<Float32Array[]> {
    return Promise.reject(new Error('lost'));
  }
}

/** All stages of the cache with a model behind them. */
class System {
  readonly clock = new ManualClock();
  readonly generations = new MemoryGenerations();
  readonly lookups: string[] = [];
  readonly log = new CapturedLog();
  /** The exact keys of answers that were kept, in order. */
  readonly kept: string[] = [];
  share: CacheShare = 'key';
  model: () => Answer = () => ({ outcome: 'generated', parts: partsOf(wholePart(completion({ content: 'so' }))) });
  calls = 0;
  readonly store = new MemoryStore({ entries: 100, bytes: 1_000_000 }, this.clock);
  readonly index: EmbeddedIndex;
  readonly reuse: ReuseDesk;
  private readonly exact: ExactCacheStage;
  private readonly semantic: SemanticCacheStage;
  private readonly fill: FillCachesStage;

  constructor(embedder: Embedder = new BuiltinEmbedder(), judge?: (asked: string, kept: string) => boolean) {
    const meter = { lookup: (...counted: string[]) => void this.lookups.push(counted.join(' ')) };
    const identities = new CacheIdentities(this.generations, () => this.share);
    this.index = new EmbeddedIndex({ embedder: embedder.id, entries: 1000, folder: null }, this.clock, this.log);
    const questions = new SimilarQuestions(embedder, this.index, this.log);
    this.exact = new ExactCacheStage(this.store, identities, this.clock, meter);
    this.reuse = reuseDesk({ clock: this.clock, judge, forget: question => void questions.forget(question) });
    this.semantic = new SemanticCacheStage(questions, this.store, this.reuse, this.clock, meter);
    this.fill = new FillCachesStage(this.store, questions, this.clock, () => 10_000);
  }

  /** What answered: the journal's status and tier. */
  async ask(asked: Call): Promise<string> {
    const answer = await this.exact.handle(asked, keyed =>
      this.semantic.handle(keyed, compared =>
        this.fill.handle(compared, async () => {
          this.calls++;
          this.kept.push(compared.cacheKey ?? '');
          return this.model();
        }),
      ),
    );
    return readToTheEnd(answer, asked);
  }

  async askAfter(first: Call, second: Call): Promise<string> {
    await this.ask(first);
    return this.ask(second);
  }
}

describe('a question that was asked in other words', () => {
  it('is answered, and says how near it is and how old the answer', async () => {
    const system = new System();
    const asked = call(REWORDED);
    await system.ask(call(QUESTION));
    system.clock.time += 5000;
    expect(await system.ask(asked)).toBe('SEMANTIC_HIT semantic');
    expect(asked.journal).toMatchObject({
      outcome: 'cache-semantic',
      resemblance: { reason: 'explained', fate: 'served' },
    });
    expect(asked.journal.ageS(system.clock.now())).toBe(5);
    expect(asked.journal.resemblance?.score).toBeGreaterThanOrEqual(0.5);
    expect(system.calls).toBe(1);
    expect(system.lookups.slice(-3)).toEqual(['exact miss', 'canonical miss', 'semantic hit']);
  });

  it('is not compared when a cheaper tier has the answer', async () => {
    const system = new System();
    await system.askAfter(call(QUESTION), call(QUESTION));
    await system.ask(call(POLITE));
    const [first, second, third] = [system.lookups.slice(0, 3), system.lookups[3], system.lookups.slice(4)];
    expect(first).toEqual(['exact miss', 'canonical miss', 'semantic miss']);
    expect([second, third]).toEqual(['exact hit', ['exact miss', 'canonical hit']]);
  });

  it('is embedded once', async () => {
    const embedder = new ScriptedEmbedder({});
    const system = new System(embedder);
    await system.ask(call(QUESTION));
    // Two to try the embedder out.
    expect(embedder.embedded).toBe(3);
  });

  it('is another one where it says something else, which the journal names', async () => {
    const asked = call(ANOTHER);
    expect(await new System().askAfter(call(QUESTION), asked)).toBe('MISS');
    expect(asked.journal.resemblance).toMatchObject({ fate: 'refused' });
    expect(asked.journal.resemblance?.reason).not.toBe('score');
  });

  it('shares one entry whether it streams or not', async () => {
    const streamed = new System();
    const chunk = (delta: JsonObject, finish_reason: string | null) =>
      chunkPart({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
    streamed.model = () => ({
      outcome: 'generated',
      parts: partsOf(chunk({ content: 'so' }, null), chunk({}, 'stop')),
    });
    const streaming = (text: string): Call => call(text, { streaming: true, body: { stream: true } });
    expect(await streamed.askAfter(streaming(QUESTION), call(REWORDED))).toBe('SEMANTIC_HIT semantic');
    expect(await new System().askAfter(call(QUESTION), streaming(REWORDED))).toBe('SEMANTIC_HIT semantic');
  });

  it.each<[string, Changes]>([
    ['the exact cache at most', { controls: { cacheLevel: 'exact' } }],
    ['no cache', { controls: { cacheLevel: 'off' } }],
    ['a fresh answer', { controls: { cacheRead: false } }],
    ['another scope', { controls: { scope: 'product-2' } }],
    ['another caller', { caller: { name: 'other' } }],
    ['other betas', { headers: { 'openai-beta': 'x' } }],
    ['another temperature', { body: { temperature: 0.1 } }],
    ['another number of tokens', { body: { max_tokens: 5 } }],
    ['a route that compares nothing', { cache: { semantic: false } }],
    ['a route without the exact cache', { cache: { exact: false } }],
  ])('is not answered for who wants %s, before or after', async (_, changes) => {
    expect(await new System().askAfter(call(QUESTION), call(REWORDED, changes))).not.toContain('HIT');
    if (changes.controls?.cacheRead === false) return;
    expect(await new System().askAfter(call(QUESTION, changes), call(REWORDED))).not.toContain('HIT');
  });

  it('is kept for who does not want to read, and not for who forbids to store', async () => {
    const noCache = call(QUESTION, { controls: { cacheRead: false } });
    expect(await new System().askAfter(noCache, call(REWORDED))).toBe('SEMANTIC_HIT semantic');
    const noStore = call(QUESTION, { controls: { cacheRead: false, cacheWrite: false } });
    expect(await new System().askAfter(noStore, call(REWORDED))).toBe('MISS');
  });

  it('is gone when the cache is cleared, and when its answer has expired', async () => {
    const system = new System();
    await system.ask(call(QUESTION));
    await system.generations.clear({ route: 'assistant' });
    expect(await system.ask(call(REWORDED))).toBe('MISS');

    const old = new System();
    await old.ask(call(QUESTION, { controls: { cacheTtlS: 10 } }));
    old.clock.time += 10_000;
    expect(await old.ask(call(REWORDED))).toBe('MISS');
  });

  it('is not answered where a rule refuses it', async () => {
    const system = new System();
    const [first, second] = [call('What is my order status?'), call('Tell me my order status')];
    expect(await system.askAfter(first, second)).toBe('MISS');
    expect(second.journal.cacheRule).toBe('personal');
    expect(await system.index.size()).toBe(0);
  });

  it.each(['', '  ', '?!', '…'])('says something, which %j does not', async text => {
    const system = new System();
    await system.askAfter(call(text), call('!?'));
    expect([await system.index.size(), system.calls]).toEqual([0, 2]);
  });

  it.each<[string, JsonObject]>([
    ['that refuses', completion({ content: null, refusal: 'no' })],
    ['that is empty', completion({ content: ' ' })],
    ['that is cut short', completion({ content: 'so' }, 'length')],
  ])('leads to no answer %s', async (_, body) => {
    const system = new System();
    system.model = () => ({ outcome: 'generated', parts: partsOf(wholePart(body)) });
    await system.ask(call(QUESTION));
    expect(await system.index.size()).toBe(0);
  });
});

describe('a neighbour', () => {
  it('whose answer is gone lets the next one try', async () => {
    const nearest = 'How does one enter the portal?';
    const system = new System(new ScriptedEmbedder({ [REWORDED]: 1, [nearest]: 0.99, [QUESTION]: 0.95 }));
    await system.ask(call(nearest, { cache: { threshold: 1 }, controls: { cacheTtlS: 3600 } }));
    await system.ask(call(QUESTION, { cache: { threshold: 1 } }));
    expect(await system.index.size()).toBe(2);
    const isGone = (key: string): boolean => key === system.kept[0];
    const get = system.store.get.bind(system.store);
    jest.spyOn(system.store, 'get').mockImplementation(async key => (isGone(key) ? null : get(key)));
    const asked = call(REWORDED, { cache: { guard: 'off' } });
    expect(await system.ask(asked)).toBe('SEMANTIC_HIT semantic');
    expect(asked.journal.resemblance?.score).toBeCloseTo(0.95, 2);
  });

  it('that the guard refuses lets the next one try', async () => {
    const trap = 'How do I not sign into the portal?';
    const right = QUESTION;
    const asked = call(REWORDED);
    const system = new System(new ScriptedEmbedder({ [REWORDED]: 1, [trap]: 0.99, [right]: 0.95 }));
    await system.ask(call(trap, { cache: { threshold: 1 } }));
    await system.ask(call(right, { cache: { threshold: 1 } }));
    expect(await system.index.size()).toBe(2);
    expect(await system.ask(asked)).toBe('SEMANTIC_HIT semantic');
    expect(asked.journal.resemblance?.score).toBeCloseTo(0.95, 2);
  });
});

describe('the least score', () => {
  const [game, performance] = ['这款手机能打游戏吗', '这款手机游戏性能怎么样'];
  const system = (cosine: number): System => new System(new ScriptedEmbedder({ [game]: 1, [performance]: cosine }));

  it('is the embedder’s own: 这款手机能打游戏吗 and 这款手机游戏性能怎么样 at 0.95 are one', async () => {
    const asked = call(performance);
    expect(await system(0.95).askAfter(call(game), asked)).toBe('SEMANTIC_HIT semantic');
    expect(asked.journal.resemblance).toMatchObject({ fate: 'served', reason: 'harmless' });
    const below = call(performance);
    expect(await system(0.9).askAfter(call(game), below)).toBe('MISS');
    expect(below.journal.resemblance).toMatchObject({ fate: 'refused', reason: 'score' });
  });

  it.each<[string, Changes, string]>([
    ['lower on the route', { cache: { threshold: 0.89 } }, 'SEMANTIC_HIT semantic'],
    ['higher on the route', { cache: { threshold: 0.91 } }, 'MISS'],
    ['raised by the request', { cache: { threshold: 0.89 }, controls: { cacheThreshold: 0.91 } }, 'MISS'],
    ['never lowered by the request', { controls: { cacheThreshold: 0.5 } }, 'MISS'],
  ])('is %s', async (_, changes, expected) => {
    expect(await system(0.9).askAfter(call(game), call(performance, changes))).toBe(expected);
  });

  it('is low where the guard decides, unless a threshold is given', async () => {
    const strict = { guard: 'strict' } as const;
    const pair = (changes: Changes): Promise<string> =>
      new System(new ScriptedEmbedder({ [QUESTION]: 1, [REWORDED]: 0.6 })).askAfter(
        call(QUESTION),
        call(REWORDED, changes),
      );
    expect(await pair({ cache: strict })).toBe('SEMANTIC_HIT semantic');
    expect(await pair({ cache: { ...strict, threshold: 0.7 } })).toBe('MISS');
    expect(await pair({ cache: strict, controls: { cacheThreshold: 0.7 } })).toBe('MISS');
    expect(await pair({ cache: { guard: 'balanced' } })).toBe('MISS');
  });
});

describe('shadow', () => {
  const shadow = { cache: { semantic: 'shadow' } } as const;

  it('looks, counts and says what it would have served, and leaves the answer to the model', async () => {
    const system = new System();
    const asked = call(REWORDED, shadow);
    expect(await system.askAfter(call(QUESTION, shadow), asked)).toBe('MISS');
    expect(asked.journal.resemblance).toMatchObject({ fate: 'shadow', reason: 'explained' });
    expect(system.lookups.slice(-1)).toEqual(['semantic shadow']);
    expect(system.calls).toBe(2);
  });
});

describe('trouble', () => {
  it('of the embedder is a miss, and the answer is kept under its exact key', async () => {
    const system = new System(new LostEmbedder());
    expect(await system.askAfter(call(QUESTION), call(REWORDED))).toBe('MISS');
    expect(await system.ask(call(QUESTION))).toBe('HIT exact');
  });

  it('of an embedder that finds everything alike leaves the decision to the strict guard (row 94)', async () => {
    const blind = new ScriptedEmbedder({});
    blind.embed = async texts => texts.map(() => Float32Array.of(1, 0, 0));
    const system = new System(blind);
    const off = { cache: { guard: 'off' } } as const;
    await system.ask(call('How heavy is the tent?', off));
    expect(await system.ask(call('Who founded the company?', off))).toBe('MISS');
    expect(await system.ask(call('What does the tent weigh?', off))).not.toBe('HIT exact');
    expect(system.log.lines.filter(line => JSON.stringify(line).includes('unrelated'))).toHaveLength(1);
  });
});

describe('isolation', () => {
  it('holds in every tier for 1000 random callers, scopes and requests', async () => {
    const system = new System();
    const number = randomFrom(4);
    const random = <T>(values: readonly T[]): T => values[Math.floor(number() * values.length)] as T;
    const place = (): { name: string; scope: string; system: string } => ({
      name: random(['a', 'b', 'a:b', 'key:a']),
      scope: random(['', 'a', 'b', 'product-1']),
      system: random(['You sell shoes.', 'You are a bank.', '']),
    });
    const asked = (text: string, { name, scope, system: content }: ReturnType<typeof place>): Call =>
      call(text, {
        caller: { name },
        controls: { scope },
        body: {
          messages: [
            { role: 'system', content },
            { role: 'user', content: text },
          ],
        },
      });
    const texts = [QUESTION, REWORDED, POLITE];
    const seen = new Set<string>();
    for (let pair = 0; pair < 1000; pair++) {
      const here = place();
      const id = JSON.stringify(here);
      const isHit = (await system.ask(asked(random(texts), here))).includes('HIT');
      expect([id, isHit]).toEqual([id, seen.has(id)]);
      seen.add(id);
      if (number() < 0.02) {
        await system.generations.clear({});
        seen.clear();
      }
    }
  });

  const named = (text: string, name: string, team: string | null): Call => call(text, { caller: { name, team } });

  it.each<[CacheShare, boolean, boolean, boolean]>([
    ['key', false, false, false],
    ['team', true, false, false],
    ['all', true, true, true],
  ])('shares by %s: team %s, other team %s, no team %s', async (share, sameTeam, otherTeam, noTeam) => {
    for (const text of [QUESTION, POLITE, REWORDED]) {
      const hits = async (name: string, team: string | null): Promise<boolean> => {
        const system = new System();
        system.share = share;
        return (await system.askAfter(named(QUESTION, 'a', 't'), named(text, name, team))).includes('HIT');
      };
      expect([text, await hits('b', 't'), await hits('b', 'u'), await hits('t', null)]).toEqual([
        text,
        sameTeam,
        otherTeam,
        noTeam,
      ]);
      expect(await hits('a', 't')).toBe(true);
    }
  });

  it('keeps keys without a team to themselves', async () => {
    const system = new System();
    system.share = 'team';
    expect(await system.askAfter(named(QUESTION, 'a', null), named(QUESTION, 'b', null))).toBe('MISS');
    expect(await system.ask(named(REWORDED, 'a', null))).toBe('SEMANTIC_HIT semantic');
  });
});

describe('a route that learns from a judge', () => {
  const returning = (thing: string): [string, string] => [
    `How do I return my new ${thing}?`,
    `What is the procedure for giving back a ${thing} I purchased?`,
  ];
  const THINGS = Array.from({ length: 160 }, (_, index) => `${['hat', 'coat', 'lamp', 'desk'][index % 4]}-${index}`);
  /** Equal where both are about one thing. */
  const aboutTheSame = (asked: string, kept: string): boolean =>
    /\w+-\d+/.exec(asked)?.[0] === /\w+-\d+/.exec(kept)?.[0];

  it('comes to reuse what its guard alone refuses, and nothing that differs in number', async () => {
    const near = new ScriptedEmbedder({});
    near.embed = async texts =>
      texts.map(text => (/-\d+/.test(text) ? Float32Array.of(0.8, 0.6, 0) : Float32Array.of(0, 0, 1)));
    const system = new System(near, aboutTheSame);
    const statuses: string[] = [];
    for (const [index, thing] of THINGS.entries()) {
      const scope = { controls: { scope: String(index) }, cache: { guard: 'strict' } } as const;
      const [first, again] = returning(thing);
      await system.ask(call(first, scope));
      statuses.push(await system.ask(call(again, scope)));
    }
    expect(statuses.slice(0, 30)).not.toContain('SEMANTIC_HIT semantic');
    expect(statuses.slice(-20)).toContain('SEMANTIC_HIT semantic');
    const reused = statuses.filter(status => status === 'SEMANTIC_HIT semantic').length;
    expect(system.reuse.quality()['assistant']).toMatchObject({ judged_hits: reused, wrong_hits: 0 });
    const [first] = returning('hat-1');
    const scope = { controls: { scope: 'numbers' }, cache: { guard: 'strict' } } as const;
    await system.ask(call(first, scope));
    expect(await system.ask(call(returning('hat-2')[1], scope))).toBe('MISS');
  });

  it('lets go of a question whose answer was twice wrong for others', async () => {
    const system = new System();
    await system.ask(call(QUESTION));
    for (const id of ['one', 'two']) {
      const asked = { ...call(REWORDED), id };
      expect(await system.ask(asked)).toBe('SEMANTIC_HIT semantic');
      expect(await system.reuse.feedback(id, true)).toBe(true);
    }
    expect(await system.ask(call(REWORDED, { controls: { cacheWrite: false } }))).toBe('MISS');
    expect(system.reuse.quality()['assistant']).toMatchObject({ hits: 2, wrong_hits: 2, precision: 0, evicted: 1 });
  });

  it('knows nothing of calls that reused nothing', async () => {
    const system = new System();
    await system.ask({ ...call(QUESTION), id: 'fresh' });
    expect(await system.reuse.feedback('fresh', true)).toBe(false);
  });
});
