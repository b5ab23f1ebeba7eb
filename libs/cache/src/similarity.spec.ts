import { judge, similarityRules } from './similarity';

const ENDPOINT = { similarityThreshold: 0.9, candidateThreshold: 0.5, defaultGuard: 'balanced' } as const;
const BUILTIN = { similarityThreshold: 0.85, candidateThreshold: 0.3, defaultGuard: 'strict' } as const;
const ASKED = 'How do I hire a decorator?';

const neighbour = (text: string, score: number): Parameters<typeof judge>[1] => ({ id: 'kept', text, score });

describe('the least score', () => {
  it.each([
    [null, null, 0.9],
    [0.95, null, 0.95],
    [0.95, 0.97, 0.97],
    [0.95, 0.5, 0.95],
    [null, 0.5, 0.9],
  ])('of a route with %p and a request with %p is %p', (threshold, requested, least) => {
    expect(similarityRules({ guard: 'balanced', threshold }, requested, ENDPOINT).least).toBe(least);
  });
});

describe('a score', () => {
  it.each([
    ['How do I hire a trustworthy decorator?', true, 'addition'],
    ['Where do I hire a decorator?', true, 'aspect'],
    ['How do I not hire a decorator?', false, 'polarity'],
    ['How do I hire a gardener?', false, 'entity'],
    ['When do I hire a decorator?', false, 'question'],
  ])('that knows meaning outvotes doubts, and no danger: %s', (text, serve, reason) => {
    const rules = similarityRules({ guard: null, threshold: null }, null, ENDPOINT);
    expect(judge(ASKED, neighbour(text, 0.9), rules)).toEqual({ serve, reason });
    expect(judge(ASKED, neighbour(text, 0.89), rules)).toEqual({ serve: false, reason: 'score' });
  });

  it('outvotes nothing in Chinese', () => {
    const rules = similarityRules({ guard: null, threshold: null }, null, ENDPOINT);
    expect(judge('怎么保养皮鞋', neighbour('怎么保养白色皮鞋', 1), rules)).toEqual({
      serve: false,
      reason: 'addition',
    });
  });

  it('outvotes nothing under strict, nor where it tells of spelling', () => {
    const text = 'How do I hire a trustworthy decorator?';
    const strict = similarityRules({ guard: 'strict', threshold: null }, null, ENDPOINT);
    const spelling = similarityRules({ guard: 'balanced', threshold: null }, null, BUILTIN);
    expect(judge(ASKED, neighbour(text, 1), strict)).toEqual({ serve: false, reason: 'unexplained' });
    expect(judge(ASKED, neighbour(text, 1), spelling)).toEqual({ serve: false, reason: 'addition' });
  });
});
