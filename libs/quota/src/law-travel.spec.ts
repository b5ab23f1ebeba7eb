import fc from 'fast-check';
import { judge } from './law';
import type { GrowthSettings, Terms } from './limits';
import { ModelUse } from './model-use';
import { TRAVEL_SPREAD_MS } from './shapes';
import { termsFrom } from './terms';

const START = 1_800_000_000_000;
const GROWTH: GrowthSettings = { max_ratio: 0.2, per_s: 20, floor_rps: 1 };
const RPM = 70;
const ALL = { share: 1, min_share: 0 };

/** Seconds without demand, then calls that want in, each with the time that it travels if it is let in. */
const step = fc.record({
  restMs: fc.oneof({ weight: 8, arbitrary: fc.nat(400) }, { weight: 1, arbitrary: fc.nat(25_000) }),
  travels: fc.array(fc.oneof(fc.nat(5), fc.nat(TRAVEL_SPREAD_MS)), { maxLength: 12 }),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** When the calls that the law lets in arrive, in order. */
function arrivals(terms: Terms, steps: readonly Step[]): readonly number[] {
  const use = new ModelUse();
  const times: number[] = [];
  let now = START;
  for (const { restMs, travels } of steps) {
    now += restMs;
    use.advance(terms, now);
    for (const travel of travels) {
      if (!judge(terms, use, { rank: 0, tokens: 1 }).admitted) break;
      use.take(0, 1);
      times.push(now + travel);
    }
  }
  return times.sort((one, other) => one - other);
}

/** What a provider that keeps its limits to the millisecond says of calls as they arrive, those of a moment one by one. */
function refusals(times: readonly number[]): string[] {
  const period = GROWTH.per_s * 1000;
  return times.flatMap((time, at) => {
    const arrived = times.slice(0, at + 1);
    const since = (ms: number): number => arrived.filter(other => other > time - ms).length;
    const before = since(2 * period) - since(period);
    const allowed = Math.max(GROWTH.floor_rps * GROWTH.per_s, (1 + GROWTH.max_ratio) * before);
    return [...(since(60_000) > RPM ? ['rpm'] : []), ...(since(period) > allowed + 1e-9 ? ['growth'] : [])];
  });
}

describe('calls that travel for different times', () => {
  it.each([
    ['growth', { limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0 }, headroom: 0, growth: GROWTH }],
    ['a window', { limits: { rpm: RPM, tpm: 0, tpd: 0, inflight: 0 }, headroom: 0 }],
  ])('keep %s where they arrive, up to the spread', (name, model) => {
    const terms = termsFrom(model, { critical: ALL, normal: ALL, low: ALL });
    let calls = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 250 }), steps => {
        const times = arrivals(terms, steps);
        calls += times.length;
        expect(refusals(times).filter(refusal => refusal === (name === 'growth' ? 'growth' : 'rpm'))).toEqual([]);
      }),
      { numRuns: 150 },
    );
    expect(calls).toBeGreaterThan(5_000);
  });
});
