import { boundaryOf, wilsonLower, wilsonUpper, type Trial } from './boundary';

const trials = (right: number, wrong: number, probability: number): Trial[] => [
  ...Array.from({ length: right }, () => ({ probability, same: true })),
  ...Array.from({ length: wrong }, () => ({ probability, same: false })),
];
const NO_JUDGE_ERROR = { errors: 0.01, judgeError: 0 };

describe('the plausible rates', () => {
  it('hold the observed one between them and close in with more of the same', () => {
    expect(wilsonLower(5, 100)).toBeLessThan(0.05);
    expect(wilsonUpper(5, 100)).toBeGreaterThan(0.05);
    expect(wilsonUpper(50, 1000)).toBeLessThan(wilsonUpper(5, 100));
    expect(wilsonLower(50, 1000)).toBeGreaterThan(wilsonLower(5, 100));
  });

  it('are those of the published formula', () => {
    // One-sided 90 %, z = 1.282: 0 of 30 leaves z² / (n + z²).
    expect(wilsonUpper(0, 30)).toBeCloseTo((1.282 * 1.282) / (30 + 1.282 * 1.282), 10);
    expect(wilsonLower(30, 30)).toBeCloseTo(30 / (30 + 1.282 * 1.282), 10);
  });

  it('are everything while nothing was observed', () => {
    expect([wilsonLower(0, 0), wilsonUpper(0, 0)]).toEqual([0, 1]);
  });
});

describe('the boundary of reuse', () => {
  it('is unknown before thirty trials lie above it', () => {
    expect(boundaryOf(trials(29, 0, 0.9), { errors: 0.5, judgeError: 0 })).toBeNull();
    expect(boundaryOf(trials(30, 0, 0.9), { errors: 0.5, judgeError: 0 })).toBe(0.9);
  });

  it('is unknown where thirty right ones leave more errors plausible than the budget allows', () => {
    expect(boundaryOf(trials(30, 0, 0.9), NO_JUDGE_ERROR)).toBeNull();
    expect(boundaryOf(trials(300, 0, 0.9), NO_JUDGE_ERROR)).toBe(0.9);
  });

  it('goes down only as far as the wrong ones stay within the budget', () => {
    const all = [...trials(300, 0, 0.9), ...trials(300, 3, 0.8), ...trials(300, 60, 0.7), ...trials(0, 300, 0.1)];
    expect(boundaryOf(all, NO_JUDGE_ERROR)).toBe(0.8);
    expect(boundaryOf(all, { errors: 0.001, judgeError: 0 })).toBeNull();
    expect(boundaryOf(all, { errors: 0.2, judgeError: 0 })).toBe(0.7);
  });

  it('leaves room for a judge who takes wrong ones for right', () => {
    const all = [...trials(300, 0, 0.9), ...trials(290, 10, 0.8), ...trials(0, 600, 0.1)];
    const errors = wilsonUpper(10, 1200) * 1.05;
    expect(boundaryOf(all, { errors, judgeError: 0 })).toBe(0.8);
    expect(boundaryOf(all, { errors, judgeError: 0.1 })).toBe(0.9);
  });

  it('does not split trials of the same probability', () => {
    expect(boundaryOf([...trials(300, 0, 0.9), ...trials(30, 30, 0.8)], NO_JUDGE_ERROR)).toBe(0.9);
  });
});
