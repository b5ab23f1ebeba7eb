import { limitsLines, limitsText } from './limits-report';
import { readMeasurement } from './measure-limits';

const PRINTED = JSON.stringify([
  {
    title: 'Decisions',
    note: 'A decision takes a permit.',
    rows: [
      { name: 'empty script', decisions: 10_000, perSecond: 9999.8, p50: 0.4, p99: 1.2, failed: 0 },
      { name: 'Redis, at most', decisions: 10_000, perSecond: 26_000, failed: 2, bytes: 40_000 },
    ],
    verdicts: [
      { what: 'p99, ms', figure: 4.2, target: '≤ 4', met: false, madeOf: 'an empty script: 1.2 ms.' },
      { what: 'a second', figure: 26_000, target: '≥ 25000', met: true, madeOf: null },
    ],
  },
]);

describe('what decisions cost', () => {
  const measured = readMeasurement(`something else first\n${PRINTED}\n`);

  it('is told beside its floor, with verdicts', () => {
    const text = limitsText(measured, 'npm run lab -- limits', { date: '2026-11-30' });
    expect(text).toMatch(/p99, ms +\| +≤ 4 \| +4\.20 \| \*\*missed\*\* \| +an empty script: 1\.2 ms\./);
    expect(text).toMatch(/Redis, at most \| +26 000 \| +– \| +– \| +2 \| +40 000 \|/);
    expect(limitsLines(measured)).toEqual(['  ✗ p99, ms: 4.20 (≤ 4)', '  ✓ a second: 26 000 (≥ 25000)']);
  });

  it('is refused where the benchmark says something else', () => {
    expect(() => readMeasurement('[]')).toThrow('too_small');
    expect(() => readMeasurement('[{"rows": []}]')).toThrow('verdicts');
  });
});
