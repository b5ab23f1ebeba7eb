import { bookable, judge } from './law';
import type { Terms } from './limits';
import { ModelUse } from './model-use';
import { termsFrom } from './terms';

const START = 1_800_000_000_000;

describe('the law', () => {
  const terms = (limits: object, more: object = {}, shares: object = {}): Terms => {
    const all = { share: 1, min_share: 0 };
    return termsFrom(
      { limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0, ...limits }, headroom: 0, ...more },
      { critical: all, normal: all, low: all, ...shares },
    );
  };
  const fill = (use: ModelUse, law: Terms, rank: number, tokens = 1): number => {
    let count = 0;
    for (; count < 10_000 && judge(law, use, { rank, tokens }).admitted; count++) use.take(rank, bookable(law, tokens));
    return count;
  };

  it('lets a rested model use its whole minute at once, and then again a minute later', () => {
    const law = terms({ rpm: 600 });
    const use = new ModelUse();
    use.advance(law, START);
    expect(fill(use, law, 0)).toBe(600);
    use.advance(law, START + 60_000);
    expect(fill(use, law, 0)).toBe(0);
    use.advance(law, START + 60_500);
    expect(fill(use, law, 0)).toBe(600);
  });

  it('leaves the headroom alone', () => {
    expect(terms({ rpm: 600, tpm: 7, inflight: 1 }, { headroom: 0.2 })).toMatchObject({
      rpm: 480,
      tpm: 5,
      inflight: 1,
    });
  });

  it('keeps a reserve for the classes above, and a guarantee beyond the cap', () => {
    const law = terms(
      { inflight: 20 },
      {},
      { normal: { share: 0.9, min_share: 0.1 }, low: { share: 0.7, min_share: 0.05 } },
    );
    const use = new ModelUse();
    expect(fill(use, law, 1)).toBe(18);
    expect(fill(use, law, 2)).toBe(1);
    expect(fill(use, law, 0)).toBe(1);
    expect(fill(use, law, 0)).toBe(0);
  });

  it('admits a call that is larger than the limit when nothing else is counted', () => {
    const law = terms({ tpm: 100 }, {}, { low: { share: 0.5, min_share: 0 } });
    const use = new ModelUse();
    use.advance(law, START);
    use.take(0, 1);
    expect(judge(law, use, { rank: 2, tokens: 5000 })).toMatchObject({ admitted: false, limit: 'tpm' });
    use.advance(law, START + 61_000);
    expect(fill(use, law, 2, 5000)).toBe(1);
    expect(use.minute.sums[0]?.[5]).toBe(100);
  });

  it('uses nearly all of a limit under a constant backlog', () => {
    const law = terms({ rpm: 600 });
    const use = new ModelUse();
    let calls = 0;
    for (let at = 0; at < 600_000; at += 20) {
      use.advance(law, START + at);
      calls += fill(use, law, 0);
    }
    expect(calls / (600 * 10)).toBeGreaterThan(0.985);
    expect(calls / (600 * 10)).toBeLessThanOrEqual(1);
  });

  it('lets one call in where the floor is one, whatever its fractions', () => {
    const law = terms({}, { growth: { max_ratio: 0.2, per_s: 49, floor_rps: 1 / 49 } });
    const use = new ModelUse();
    use.advance(law, START);
    expect(fill(use, law, 0)).toBe(1);
  });

  it('lets a low class alone warm the ramp, and always leaves some of it to the classes above', () => {
    const growth = { max_ratio: 0.2, per_s: 180, floor_rps: 1 };
    const law = terms({}, { growth }, { low: { share: 0.7, min_share: 0.05 } });
    const use = new ModelUse();
    const periods: number[] = [];
    let refused = 0;
    for (let now = START; now < START + 10 * 180_000; now += 500) {
      use.advance(law, now);
      const period = Math.floor((now - START) / 180_000);
      periods[period] = (periods[period] ?? 0) + fill(use, law, 2);
      if (!judge(law, use, { rank: 0, tokens: 1 }).admitted) refused++;
    }
    // All calls of a period come at once here, and the limit is that of a rested model for a second after two of them.
    expect(refused).toBeLessThan(0.01 * 10 * 360);
    expect(periods[0]).toBe(126);
    expect(periods[9]).toBeGreaterThan(126 * 1.1 ** 9);
    expect(periods[9]).toBeLessThan(126 * 1.14 ** 9);
    const reserve = fill(use, law, 0);
    expect(reserve / (reserve + (periods[9] ?? 0))).toBeGreaterThan(0.04);
  });

  it('leaves to a class what it had in the period before, when lower ones come first', () => {
    const growth = { max_ratio: 0.2, per_s: 100, floor_rps: 0.1 };
    const law = terms({}, { growth }, { normal: { share: 0.9, min_share: 0 }, low: { share: 0.7, min_share: 0 } });
    const use = new ModelUse();
    for (let second = 0; second < 1000; second++) {
      use.advance(law, START + second * 1000);
      fill(use, law, 2);
      fill(use, law, 1);
      if (judge(law, use, { rank: 0, tokens: 1 }).admitted) use.take(0, 1);
    }
    const [critical = 0, normal = 0, low = 0] = [...(use.growth?.sums[0] ?? [])];
    expect(critical / (critical + normal + low)).toBeGreaterThan(0.15);
  });

  it('follows the steepest allowed ramp closely, and never leaves it', () => {
    const [ratio, perMs, floor] = [0.2, 180_000, 30];
    const law = terms({}, { growth: { max_ratio: ratio, per_s: perMs / 1000, floor_rps: floor / (perMs / 1000) } });
    const use = new ModelUse();
    const log: number[] = [];
    let tooSteep = 0;
    const after = (at: number): number => log.length - log.findLastIndex(time => time <= at) - 1;
    for (let now = START; now < START + 24 * perMs; now += 300) {
      use.advance(law, now);
      for (; log.length < 20_000 && judge(law, use, { rank: 0, tokens: 1 }).admitted; use.take(0, 1)) {
        log.push(now);
        const current = after(now - perMs);
        if (current > Math.max(floor, (1 + ratio) * (after(now - 2 * perMs) - current))) tooSteep++;
      }
    }
    expect(tooSteep).toBe(0);
    const inPeriod = (period: number): number =>
      after(START + period * perMs - 1) - after(START + (period + 1) * perMs - 1);
    expect(inPeriod(0)).toBe(floor);
    const fastest = 20 * Math.log(1 + ratio);
    expect(Math.log(inPeriod(23) / inPeriod(3)) / fastest).toBeGreaterThan(0.9);
  });

  it('takes a call that was never made from the ramp that it was counted in, and from no other', () => {
    const law = (per_s: number): Terms => terms({}, { growth: { max_ratio: 0.2, per_s, floor_rps: 1 } });
    for (const later of [10, 100, 1_000]) {
      const use = new ModelUse();
      use.advance(law(100), START);
      const booking = use.take(0, 1);
      use.advance(law(later), START + 1);
      use.cancel(booking);
      expect([...(use.growth?.sums[0] ?? [])]).toEqual([0, 0, 0]);
    }
  });
});
