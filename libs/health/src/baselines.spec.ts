import { isSlow, withLatency, type Baselines } from './baselines';

const after = (latencies: readonly number[], from: Baselines = {}, everyMs = 10, start = 0): Baselines =>
  latencies.reduce<Baselines>((known, ms, index) => withLatency(known, 's', ms, start + index * everyMs), from);
const repeated = (ms: number, count: number): number[] => Array.from({ length: count }, () => ms);
/** 90 % at 100 to 200 ms, the rest at 1 to 2 s; the same numbers every time. */
const mixed = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => (index % 10 === 7 ? 1_000 : 100) * (1 + ((index * 37) % 100) / 100));

describe('the baselines', () => {
  it('call nothing slow before twenty calls of its size are known', () => {
    expect(isSlow(after(repeated(100, 19)), 's', 60_000)).toBe(false);
    expect(isSlow(after(repeated(100, 20)), 's', 60_000)).toBe(true);
    expect(isSlow(after(repeated(100, 20)), 'another size', 60_000)).toBe(false);
  });

  it('call slow what takes three times as long as usual, and at least 800 ms', () => {
    const usual = after(repeated(100, 100));
    expect(isSlow(usual, 's', 790)).toBe(false);
    expect(isSlow(usual, 's', 810)).toBe(true);
    expect(isSlow(after(repeated(2_000, 100)), 's', 4_000)).toBe(false);
  });

  it('come to about the 95th percentile, so that the usual slow calls are none', () => {
    const [, ms = 0] = after(mixed(3_000))['s'] ?? [];
    expect(ms).toBeGreaterThan(1_000);
    expect(ms).toBeLessThan(2_200);
  });

  it('do not follow a model that becomes slow within a minute, but do when it stays so', () => {
    const usual = after(repeated(400, 100));
    const minute = after(repeated(2_000, 6_000), usual, 10, 100_000);
    expect(isSlow(minute, 's', 2_000)).toBe(true);
    const hour = after(repeated(2_000, 3_600), usual, 1_000, 100_000);
    expect(isSlow(hour, 's', 2_000)).toBe(false);
  });
});
