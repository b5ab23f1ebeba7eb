import fc from 'fast-check';
import { SlidingWindow } from './sliding-window';

describe('SlidingWindow', () => {
  it('sums what is younger than its span, and drops a record exactly at its age', () => {
    const window = new SlidingWindow(1000);
    window.add(0, 2);
    window.add(400, 3);
    expect(window.total(999)).toBe(5);
    expect(window.total(1000)).toBe(3);
    expect(window.total(1400)).toBe(0);
  });

  it('equals a naive sum over the last span for any history', () => {
    const steps = fc.array(fc.record({ wait: fc.nat(300), amount: fc.nat(50) }), { maxLength: 300 });
    fc.assert(
      fc.property(steps, history => {
        const window = new SlidingWindow(1000);
        const records: { at: number; amount: number }[] = [];
        let now = 0;
        for (const { wait, amount } of history) {
          now += wait;
          window.add(now, amount);
          records.push({ at: now, amount });
          const naive = records.filter(({ at }) => at > now - 1000).reduce((sum, record) => sum + record.amount, 0);
          expect(window.total(now)).toBe(naive);
        }
      }),
    );
  });

  it('says when an amount fits, and it then does', () => {
    const window = new SlidingWindow(1000);
    for (const at of [0, 100, 200]) window.add(at, 10);
    expect(window.msUntilFits(200, 5, 40)).toBe(0);
    expect(window.msUntilFits(200, 15, 30)).toBe(900);
    expect(window.msUntilFits(200, 30, 30)).toBe(1000);
    expect(window.msUntilFits(200, 31, 30)).toBeNull();
    expect(window.total(1099) + 15).toBeGreaterThan(30);
    expect(window.total(1100) + 15).toBeLessThanOrEqual(30);
  });

  it('holds no more records than it is told to', () => {
    const window = new SlidingWindow(1000);
    for (let at = 0; at < 50; at += 1) window.add(at, 1, 3);
    expect(window.total(50)).toBe(3);
    expect(window.msUntilNext(50)).toBe(997);
    expect(window.msUntilEmpty(50)).toBe(999);
  });
});
