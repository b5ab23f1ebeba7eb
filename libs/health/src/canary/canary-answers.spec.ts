import { freshRecord, type CanaryRecord, type ModelRecord } from '../model-record';
import { afterAnswers, canaryReport, failsCanary, isCanaryDue, withCanaryClaim } from './canary-answers';

const COUNT_MS = 60_000;
const TIMES = { nextInMs: 30_000, countMs: COUNT_MS };

/** What is known after these mean scores, one time after the other. */
function after(scores: readonly number[], least = 0, asked = 'a', before: CanaryRecord | null = null) {
  return scores.reduce<CanaryRecord | null>(
    (record, score, index) => afterAnswers(record, { asked, scores: [{ score, least }], ...TIMES }, index),
    before,
  ) as CanaryRecord;
}
const fails = (record: CanaryRecord): boolean => failsCanary(record, record.toldAt);

describe('answers to canary questions', () => {
  it('fail once they are 12 % worse than the last five times', () => {
    const usual = [0.8, 0.82, 0.78, 0.8, 0.8];
    expect(fails(after([...usual, 0.71]))).toBe(false);
    expect(fails(after([...usual, 0.7]))).toBe(true);
    expect([0.88, 0.881].map(score => fails(after([1, 1, 1, 1, 1, score])))).toEqual([true, false]);
    expect(canaryReport(after([...usual, 0.7]), 5)).toMatchObject({ score: 0.7, usual: 0.8, failed: true });
  });

  it('have no habit before that', () => {
    expect(fails(after([0.8, 0.8, 0.8, 0.8, 0.1]))).toBe(false);
    expect(canaryReport(after([0.8, 0.1]), 2)).toMatchObject({ score: 0.1, usual: null, failed: false });
  });

  it('fail when one of them is below the least of its question', () => {
    expect(fails(after([0.4], 0.5))).toBe(true);
    expect(fails(after([0.5], 0.5))).toBe(false);
    const scores = [
      { score: 0.9, least: 0.5 },
      { score: 0.4, least: 0.5 },
    ];
    expect(fails(afterAnswers(null, { asked: 'a', scores, ...TIMES }, 0))).toBe(true);
  });

  it('count until the next good ones, and no longer than they may', () => {
    const failed = after([0.1], 0.5);
    expect(fails(after([0.9], 0.5, 'a', failed))).toBe(false);
    expect(failsCanary(failed, COUNT_MS - 1)).toBe(true);
    expect(failsCanary(failed, COUNT_MS)).toBe(false);
  });

  it('are due again only after the next time', () => {
    expect(after([0.9]).dueAt).toBe(30_000);
  });

  it('are not compared with those to other questions', () => {
    const before = after([0.9, 0.9, 0.9, 0.9, 0.9]);
    expect(fails(after([0.2], 0, 'b', before))).toBe(false);
    expect(fails(after([0.2], 0, 'a', before))).toBe(true);
  });
});

describe('the time for canary questions', () => {
  const record = (changes: Partial<ModelRecord> = {}): ModelRecord => ({ ...freshRecord(0), ...changes });

  it('is taken by whoever comes first', () => {
    const claimed = withCanaryClaim(record(), 100, 1_000);
    expect(claimed?.canary?.dueAt).toBe(1_100);
    expect(claimed && withCanaryClaim(claimed, 1_099, 1_000)).toBeNull();
    expect(claimed && withCanaryClaim(claimed, 1_100, 1_000)).not.toBeNull();
  });

  it('is not while a model is paused or down', () => {
    const open = { kind: 'open', since: 0, why: 'error-rate', times: 0, probeAt: 10 } as const;
    const degraded = { kind: 'degraded', since: 0, why: 'error-rate', good: 0, probeAt: 10 } as const;
    expect(isCanaryDue(record({ pausedSince: 0 }), 5)).toBe(false);
    expect(isCanaryDue(record({ state: open }), 5)).toBe(false);
    expect(isCanaryDue(record({ state: degraded }), 5)).toBe(true);
  });
});
