import { isSlow, usualOf, withLatency, withOutrun, type Baselines } from './baselines';

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

  it('tell what is usual once twenty calls are known', () => {
    expect(usualOf(after(repeated(100, 19)), 's')).toBeNull();
    expect(usualOf(after(repeated(100, 20)), 's')).toBe(100);
    expect(usualOf(after(repeated(100, 20)), 'another size')).toBeNull();
  });

  /** Whoever takes longer than usual is given up a moment later. */
  const outrunning = (latencies: readonly number[], from: Baselines): Baselines =>
    latencies.reduce<Baselines>((known, ms, index) => {
      const givenUpAt = (usualOf(known, 's') ?? Infinity) + 5;
      return ms <= givenUpAt ? withLatency(known, 's', ms, index * 10) : withOutrun(known, 's', givenUpAt);
    }, from);

  it('stay where they are when those that take longest are never waited for', () => {
    const [usual, outrun] = [after(mixed(3_000)), outrunning(mixed(20_000), after(mixed(200)))].map(
      known => usualOf(known, 's') ?? 0,
    );
    expect(outrun).toBeGreaterThan(0.75 * (usual ?? 0));
    expect(outrun).toBeLessThan(1.25 * (usual ?? 0));
  });

  it('are hardly moved by a model that has become so slow that all its calls are outrun', () => {
    const usual = outrunning(mixed(2_000), after(mixed(200)));
    const outrun = outrunning(repeated(60_000, 2_000), usual);
    expect(usualOf(outrun, 's')).toBeLessThan(1.5 * (usualOf(usual, 's') ?? 0));
  });

  it('learn nothing of a call that was given up before it was late, or of which too little is known', () => {
    const usual = after(mixed(200));
    expect(withOutrun(usual, 's', 50)).toBe(usual);
    const few = after(repeated(100, 19));
    expect(withOutrun(few, 's', 5_000)).toBe(few);
  });

  it('rise by calls that were given up no oftener than one in twenty', () => {
    const usual = after(repeated(100, 38));
    const [, ms = 0] = usual['s'] ?? [];
    const once = withOutrun(usual, 's', 10 * ms);
    expect(once).toBe(usual);
    const roomy = withOutrun(after(repeated(100, 60)), 's', 10 * ms);
    expect(usualOf(roomy, 's')).toBeGreaterThan(usualOf(after(repeated(100, 60)), 's') ?? 0);
    expect(withOutrun(roomy, 's', 10 * ms)).toEqual(withOutrun(withOutrun(roomy, 's', 10 * ms), 's', 10 * ms));
  });
});
