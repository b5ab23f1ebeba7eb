import fc from 'fast-check';
import { Climber, nextRate } from './climber';
import type { ClimbTerms } from './limits';

const TERMS: ClimbTerms = {
  mode: 'auto',
  initial_rps: 10,
  max_rps: 0,
  burst_s: 1,
  interval_s: 10,
  strict_error_ratio: 0.05,
  relax_error_ratio: 0.01,
  probe_ratio: 0.05,
  fast_probe_ratio: 0.1,
  hold_ms: 180_000,
};
const terms = (more: Partial<ClimbTerms> = {}): ClimbTerms => ({ ...TERMS, ...more });

describe('nextRate', () => {
  const busy = { rate: 100, accepted: 1000, errors: 0, seconds: 10, held: false };
  it.each([
    ['falls at the strict ratio', { errors: 50 }, 95, 'fell'],
    ['falls when errors come after the calls', { accepted: 0, errors: 1 }, 95, 'fell'],
    ['stays below the strict ratio', { errors: 49 }, 100, 'kept'],
    ['stays at the relax ratio', { errors: 10 }, 100, 'kept'],
    ['climbs below the relax ratio', { errors: 9 }, 105, 'climbed'],
    ['climbs fast without an error', {}, 110, 'climbed-fast'],
    ['climbs fast with just enough traffic', { accepted: 667 }, 110, 'climbed-fast'],
    ['stays with too little traffic to learn from', { accepted: 666 }, 100, 'idle'],
    ['stays without traffic', { accepted: 0 }, 100, 'idle'],
    ['does not climb while held', { held: true }, 100, 'held'],
    ['does not climb slowly while held', { errors: 9, held: true }, 100, 'held'],
    ['falls while held', { errors: 50, held: true }, 95, 'fell'],
  ])('%s', (_, interval, rate, why) => {
    const next = nextRate(TERMS, { ...busy, ...interval });
    expect(next.why).toBe(why);
    expect(next.rate).toBeCloseTo(rate, 9);
  });

  it('stays within 1 and the maximum', () => {
    expect(nextRate(TERMS, { ...busy, rate: 1, accepted: 10, errors: 10 }).rate).toBe(1);
    expect(nextRate(terms({ max_rps: 105 }), busy).rate).toBe(105);
  });
});

describe('Climber', () => {
  const START = 1_800_000_000_000;
  /** `count` calls try in each of `seconds` seconds from `from` on; returns those that went. */
  const drive = (climber: Climber, options: ClimbTerms, from: number, seconds: number, count: number): number[] => {
    const calls: number[] = [];
    for (let second = 0; second < seconds; second++) {
      for (let at = 0; at < count; at++) {
        const time = START + (from + second) * 1000 + Math.floor((at * 1000) / count);
        if (climber.refusedUntil(options, time) === null) calls.push(climber.take(options, time));
      }
    }
    return calls;
  };

  it('has no ceiling until the first overload, then that of the rate just seen', () => {
    const climber = new Climber();
    const calls = drive(climber, TERMS, 0, 8, 40);
    expect(calls).toHaveLength(320);
    expect(climber.ceiling(TERMS)).toBeNull();
    climber.fail(TERMS, START + 8000, calls.at(-1) ?? 0, true, false);
    expect(climber.ceiling(TERMS)).toBeCloseTo(40, 0);
    expect(climber.why).toBe('overload');
  });

  it('begins no lower than the rate that the provider has taken of late, where calls come in lumps', () => {
    const climber = new Climber();
    drive(climber, TERMS, 0, 30, 8);
    const [call = 0] = drive(climber, TERMS, 45, 0.2, 8);
    climber.fail(TERMS, START + 45_200, call, true, true);
    expect(climber.ceiling(TERMS)).toBeGreaterThan(5);
  });

  it('falls to what the provider takes where that is far less', () => {
    const climber = new Climber();
    // 1 of 4 calls is taken, of 40 a second.
    for (const second of Array.from({ length: 32 }, (_, at) => at)) {
      const calls = drive(climber, TERMS, second, 1, 40);
      for (const call of calls) if (call % 4 > 0) climber.fail(TERMS, START + second * 1000 + 999, call, true, false);
    }
    expect(climber.ceiling(TERMS)).toBeLessThan(12);
    expect(climber.ceiling(TERMS)).toBeGreaterThan(3);
  });

  it('lets the few calls of a quiet hour go at once after a single refusal', () => {
    const climber = new Climber();
    climber.fail(TERMS, START, climber.take(TERMS, START), true, false);
    expect(climber.ceiling(TERMS)).toBe(1);
    expect(drive(climber, TERMS, 60, 0.2, 100)).toHaveLength(10);
  });

  it('keeps its rate with bursts of a second', () => {
    const climber = new Climber();
    const on = terms({ mode: 'on' });
    expect(drive(climber, on, 0, 1, 1000).length).toBeLessThanOrEqual(20);
    expect(drive(climber, on, 1, 9, 1000)).toHaveLength(90);
  });

  it('keeps its rate within less than a second where it must, one call at least', () => {
    const short = terms({ mode: 'on', initial_rps: 40, burst_s: 0.1 });
    expect(drive(new Climber(), short, 0, 1, 1000).length).toBeLessThanOrEqual(44);
    expect(drive(new Climber(), { ...short, initial_rps: 2 }, 0, 1, 100)).toHaveLength(2);
  });

  it('starts cold where it is on, climbs while there is traffic, and not above the maximum', () => {
    const climber = new Climber();
    const on = terms({ mode: 'on', max_rps: 15 });
    expect(climber.ceiling(on)).toBe(10);
    drive(climber, on, 0, 31, 100);
    expect(climber.ceiling(on)).toBeCloseTo(13.31, 9);
    drive(climber, on, 31, 60, 100);
    expect(climber.ceiling(on)).toBe(15);
  });

  it('never has a ceiling where it is off', () => {
    const climber = new Climber();
    const off = terms({ mode: 'off' });
    climber.fail(off, START, climber.take(off, START), true, false);
    expect(climber.ceiling(off)).toBeNull();
    expect(climber.refusedUntil(off, START)).toBeNull();
  });

  it('falls once for a burst, however late the refusals of its calls come', () => {
    const climber = new Climber();
    const calls = drive(climber, TERMS, 0, 5, 100);
    for (const call of calls.slice(0, 100)) climber.fail(TERMS, START + 5000, call, true, false);
    const seen = climber.ceiling(TERMS) ?? 0;
    drive(climber, TERMS, 5, 6, 100);
    expect(climber.why).toBe('fell');
    const fallen = climber.ceiling(TERMS) ?? 0;
    expect(fallen).toBeLessThanOrEqual(seen * 0.95);
    expect(fallen).toBeGreaterThan(seen * 0.8);
    for (const call of calls.slice(100)) climber.fail(TERMS, START + 11_000, call, true, false);
    drive(climber, TERMS, 11, 12, 100);
    expect(climber.ceiling(TERMS)).toBeGreaterThanOrEqual(fallen);
  });

  it('holds after a signal of the slope, and climbs when that is over', () => {
    const climber = new Climber();
    const short = terms({ hold_ms: 30_000 });
    const calls = drive(climber, short, 0, 9, 200);
    climber.fail(short, START + 9000, calls.at(-1) ?? 0, true, true);
    const seen = climber.ceiling(short) ?? 0;
    drive(climber, short, 9, 29, 400);
    expect([climber.ceiling(short), climber.why]).toEqual([seen, 'held']);
    drive(climber, short, 38, 20, 400);
    expect(climber.ceiling(short)).toBeGreaterThan(seen);
  });

  it('lifts a ceiling that nobody has reached for ten minutes without an overload', () => {
    const climber = new Climber();
    const calls = drive(climber, TERMS, 0, 9, 50);
    climber.fail(TERMS, START + 9000, calls.at(-1) ?? 0, true, false);
    drive(climber, TERMS, 9, 590, 2);
    expect(climber.why).toBe('idle');
    drive(climber, TERMS, 599, 30, 2);
    expect([climber.ceiling(TERMS), climber.why]).toEqual([null, 'lifted']);
  });

  it('begins at 70 % of its rate when the model comes back after it was down, once, and forgets its errors', () => {
    const climber = new Climber();
    const calls = drive(climber, TERMS, 0, 9, 50);
    climber.fail(TERMS, START + 9000, calls.at(-1) ?? 0, true, false);
    const before = climber.ceiling(TERMS) ?? 0;
    const returned = terms({ returned_at: START + 9500 });
    drive(climber, returned, 10, 5, 10);
    expect([climber.ceiling(returned), climber.why]).toEqual([before * 0.7, 'returned']);
    climber.fail(returned, START + 15_000, calls.at(-1) ?? 0, false, false);
    drive(climber, TERMS, 15, 8, 200);
    expect([climber.ceiling(TERMS), climber.why]).toEqual([before * 0.7 * 1.1, 'climbed-fast']);
  });

  it('stays within its bounds and falls once for each cohort, in whatever order answers come', () => {
    const step = fc.record({
      ms: fc.nat(4000),
      pick: fc.nat(),
      end: fc.constantFrom('ok', 'overload', 'slope', 'error'),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 50, maxLength: 300 }), fc.constantFrom('on', 'auto'), (steps, mode) => {
        const options = terms({ mode, max_rps: 30, interval_s: 2 });
        const climber = new Climber();
        const open: number[] = [];
        let time = START;
        let newest = 0;
        let fellAt = 0;
        let blamed = false;
        for (const { ms, pick, end } of steps) {
          time += ms;
          const before = climber.ceiling(options);
          if (pick % 2 === 0) {
            if (climber.refusedUntil(options, time) !== null) continue;
            newest = climber.take(options, time);
            open.push(newest);
          } else {
            const [call] = open.splice(pick % (open.length || 1), 1);
            if (call === undefined) continue;
            if (end !== 'ok' && call > fellAt) blamed = true;
            if (end === 'ok') climber.step(options, time);
            else climber.fail(options, time, call, end !== 'error', end === 'slope');
          }
          const after = climber.ceiling(options);
          expect(after === null || (after >= 1 && after <= 30)).toBe(true);
          if (before === null || after === null || after >= before) continue;
          // Only failures of calls that went out after the last fall can make it fall again.
          expect(blamed).toBe(true);
          [fellAt, blamed] = [newest, false];
        }
      }),
    );
  });
});
