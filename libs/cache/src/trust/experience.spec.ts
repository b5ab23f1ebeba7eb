import { Experience, type Judgement, type Weighed } from './experience';

const BUDGET = { errors: 0.05, judgeError: 0 };
const PAIRS = [
  ['how do i return shoes', 'what is the way to send shoes back', true],
  ['how do i return shoes', 'how do i repair shoes', false],
] as const;

const candidate = (text: string, score: number): { id: string; text: string; score: number } => ({
  id: text,
  text,
  score,
});

function judged(
  asked: string,
  { candidate, features }: Weighed<{ id: string; text: string; score: number }>,
  same: boolean,
  role: Judgement['role'],
): Judgement {
  return { asked, kept: candidate.id, features, same, role };
}

describe('what a route has learned of reuse', () => {
  it('reuses nothing before it has learned', () => {
    const experience = new Experience(() => BUDGET);
    experience.weigh('how do i return shoes', [candidate('how to send shoes back', 0.9)]);
    expect(experience.boundary).toBeNull();
  });

  it('puts first what stands out by its words, before it has learned', () => {
    const experience = new Experience(() => BUDGET);
    const texts = ['Steel is made of iron', 'Bread is made of flour', 'A loaf of bread needs flour and yeast'];
    for (const text of texts) experience.seen(text);
    const weighed = experience.weigh(
      'For a bread loaf you need yeast and flour',
      texts.map(text => candidate(text, 0.6)),
    );
    expect(weighed.map(({ candidate: { text } }) => text)).toEqual([texts[2], texts[1], texts[0]]);
  });

  it('draws a boundary that lets through what was judged equal and holds back what was not', () => {
    const experience = new Experience(() => ({ errors: 0.01, judgeError: 0 }));
    for (let round = 0; round < 300; round++) {
      for (const [asked, kept, same] of PAIRS) {
        const [weighed] = experience.weigh(`${asked} ${round}`, [candidate(`${kept} ${round}`, same ? 0.9 : 0.6)]);
        if (weighed) experience.learn(judged(`${asked} ${round}`, weighed, same, 'first'));
      }
    }
    const probabilityOf = (kept: string, score: number): number =>
      experience.weigh('how do i return hats', [candidate(kept, score)])[0]?.probability ?? 0;
    const { boundary } = experience;
    expect(boundary).not.toBeNull();
    expect(probabilityOf('what is the way to send hats back', 0.9)).toBeGreaterThanOrEqual(boundary ?? 1);
    expect(probabilityOf('how do i repair hats', 0.6)).toBeLessThan(boundary ?? 0);
  });

  it('never takes a difference in polarity or number for harmless', () => {
    const experience = new Experience(() => BUDGET);
    const weighed = experience.weigh('is it waterproof', [
      candidate('is it not waterproof', 0.95),
      candidate('is it really waterproof', 0.9),
    ]);
    expect(weighed.map(({ candidate: { text }, dangerous }) => [text, dangerous])).toEqual(
      expect.arrayContaining([['is it not waterproof', true]]),
    );
    const [numbers] = experience.weigh('does it weigh 2 kg', [candidate('does it weigh 3 kg', 0.98)]);
    expect(numbers?.dangerous).toBe(true);
  });

  it('lets candidates that share an answer speak for each other', () => {
    const experience = new Experience(() => BUDGET);
    const candidates = ['send shoes back', 'return my shoes', 'repair shoes'].map(text => candidate(text, 0.6));
    const agreementOf = (text: string): number | undefined =>
      experience.weigh('giving shoes back', candidates).find(({ candidate: { id } }) => id === text)?.features[4];
    const before = agreementOf('send shoes back');
    const alone = agreementOf('repair shoes');
    experience.groups.join('send shoes back', 'return my shoes');
    expect(agreementOf('send shoes back')).toBeCloseTo(2 * (before ?? 0));
    expect(agreementOf('repair shoes')).toBe(alone);
  });

  it('stops trusting the guard on a route where it has proved wrong', () => {
    const experience = new Experience(() => BUDGET);
    const [weighed] = experience.weigh('how do i return shoes', [candidate('how to return shoes', 0.9)]);
    if (!weighed) throw new Error('weighed');
    for (let hit = 0; hit < 100; hit++) experience.learn(judged(`q${hit}`, weighed, hit % 50 !== 0, 'hit'));
    expect(experience.trustsGuard).toBe(true);
    for (let hit = 0; hit < 30; hit++) experience.learn(judged(`w${hit}`, weighed, false, 'hit'));
    expect(experience.trustsGuard).toBe(false);
  });

  it('trusts the guard again once the hits that were wrong have left the window', () => {
    const experience = new Experience(() => BUDGET);
    const [weighed] = experience.weigh('how do i return shoes', [candidate('how to return shoes', 0.9)]);
    if (!weighed) throw new Error('weighed');
    const hits = (count: number, same: boolean): void => {
      for (let hit = 0; hit < count; hit++) experience.learn({ ...judged('q', weighed, same, 'hit'), features: null });
    };
    hits(200, false);
    hits(1_800, true);
    expect(experience.trustsGuard).toBe(false);
    hits(200, true);
    expect(experience.trustsGuard).toBe(true);
    hits(150, false);
    expect(experience.trustsGuard).toBe(false);
  });

  it('draws its boundary from what it reused itself, and not from what the guard let through', () => {
    const learnt = (role: 'hit' | 'learned'): number | null => {
      const experience = new Experience(() => BUDGET);
      const [weighed] = experience.weigh('how do i return shoes', [candidate('giving shoes back', 0.9)]);
      if (!weighed) throw new Error('weighed');
      for (let call = 0; call < 400; call++) experience.learn(judged(`q${call}`, weighed, true, role));
      return experience.boundary;
    };
    expect(learnt('learned')).not.toBeNull();
    expect(learnt('hit')).toBeNull();
  });
});
