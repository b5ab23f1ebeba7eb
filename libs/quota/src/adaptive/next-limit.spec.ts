import fc from 'fast-check';
import { ADAPTIVE } from './adaptive-settings';
import type { Latencies } from './baselines';
import { freshState, nextLimit, type AdaptiveSample, type AdaptiveState, type Reach } from './next-limit';

const CALM: Latencies = { chat5: { calls: 100, ms: 400 } };
const seen = (ms: number, changes: Partial<AdaptiveSample> = {}): AdaptiveSample => ({
  at: 2_000,
  latencies: { chat5: { calls: 50, ms } },
  drops: 0,
  inflight: 40,
  ...changes,
});
const bound = (limit: number, changes: Partial<Extract<Reach, { kind: 'bound' }>> = {}): AdaptiveState => ({
  reach: { kind: 'bound', limit, worst: { limit, slowness: 1 }, unmoved: 0, neededAt: 0, ...changes },
  baselines: CALM,
  slowness: 1,
  meanMs: 400,
  at: 0,
});
const open = (slow = 0): AdaptiveState => ({ ...bound(1), reach: { kind: 'open', slow } });
const limitAfter = (state: AdaptiveState, sample: AdaptiveSample): number | null => {
  const { reach } = nextLimit(state, sample, ADAPTIVE);
  return reach.kind === 'open' ? null : Math.round(reach.limit * 100) / 100;
};

/** No limit out of bounds, no leap, no baseline that could not be one, nothing that is lost on the way to others. */
function isSound(before: Reach, { reach, ...state }: AdaptiveState, most: number): boolean {
  const baselines = Object.values(state.baselines).every(({ ms }) => ms > 0 && Number.isFinite(ms));
  if (reach.kind === 'open') return baselines;
  const { limit } = reach;
  const leaps =
    before.kind === 'bound' && (limit > before.limit + Math.sqrt(before.limit) || limit < before.limit * 0.7);
  const travels = (JSON.parse(JSON.stringify(reach)) as { limit: number }).limit === limit;
  return baselines && limit >= ADAPTIVE.least && limit <= most + Math.sqrt(most) && !leaps && travels;
}

describe('the next limit', () => {
  it.each<[string, AdaptiveState, AdaptiveSample, number | null]>([
    ['none while latency is fine', open(1), seen(400), null],
    ['none while latency is not even twice as long', open(1), seen(780), null],
    ['none when it is slow for the first time', open(0), seen(1200), null],
    ['one when it is slow twice: half the calls, and the queue', open(1), seen(1200), 22.53],
    ['none for a few calls, however slow', open(1), seen(1200, { inflight: 3 }), null],
    ['none without a baseline to trust', { ...open(1), baselines: { chat5: { calls: 9, ms: 400 } } }, seen(1200), null],
    ['none for what is fast all the same', { ...open(1), baselines: { chat5: { calls: 99, ms: 2 } } }, seen(90), null],
    ['one when calls fail', open(1), seen(400, { drops: 10 }), 36],
    ['none when few calls fail', open(1), seen(400, { drops: 5 }), null],
    ['a larger one while latency is fine', bound(16), seen(400), 16.8],
    ['a larger one within the tolerance', bound(16), seen(430), 16.8],
    ['a smaller one when it is slow', bound(16), seen(800), 13.2],
    ['not less than half the way', bound(16), seen(8000), 12.8],
    ['nine tenths when calls fail', bound(16), seen(400, { drops: 10 }), 14.4],
    ['the same while it is not used', bound(100), seen(400, { inflight: 49 }), 100],
    ['the same for too few calls', bound(16), seen(400, { latencies: { chat5: { calls: 9, ms: 400 } } }), 16],
    ['the same within a second', bound(16), seen(400, { at: 999 }), 16],
    ['the same until calls under the last one are back', { ...bound(16), meanMs: 3_000 }, seen(400), 16],
    ['never less than one', bound(1), seen(8000, { inflight: 1 }), 1],
    ['none instead of a thousand', bound(999), seen(400, { inflight: 990 }), null],
    ['none when it was not needed for long', bound(100), seen(400, { at: 600_001 }), null],
  ])('is %s', (_, state, sample, expected) => {
    expect(limitAfter(state, sample)).toBe(expected);
  });

  it('takes a model for slow by itself once a far smaller limit has not helped three times', () => {
    const slow = { latencies: { chat5: { calls: 50, ms: 1_200 } }, inflight: 20 };
    const far = (unmoved: number): AdaptiveState => bound(20, { worst: { limit: 60, slowness: 3 }, unmoved });
    const [once, thrice] = [0, 2].map(unmoved => nextLimit(far(unmoved), seen(0, slow), ADAPTIVE));
    expect(once?.reach).toMatchObject({ kind: 'bound', unmoved: 1 });
    expect(once?.baselines['chat5']?.ms).toBeCloseTo(400);
    expect(thrice?.reach).toEqual({ kind: 'open', slow: 0 });
    expect(thrice?.baselines['chat5']?.ms).toBeGreaterThan(1_100);
  });

  it('does not take long answers for a slow model', () => {
    const baselines = { ...CALM, chat9: { calls: 100, ms: 6_000 } };
    const long = seen(0, { latencies: { chat9: { calls: 50, ms: 6_000 } } });
    expect(limitAfter({ ...open(1), baselines }, long)).toBeNull();
    expect(nextLimit({ ...open(1), baselines }, long, ADAPTIVE).slowness).toBeCloseTo(1);
  });

  it('learns the baseline of a size it has not seen by those that it knows', () => {
    const latencies = { chat5: { calls: 50, ms: 800 }, chat7: { calls: 50, ms: 4_000 } };
    const next = nextLimit(bound(16), seen(0, { latencies }), ADAPTIVE);
    expect(next.baselines['chat7']?.ms).toBeCloseTo(2_000);
    expect(next.baselines['chat5']?.ms).toBe(400);
  });

  it('stays within its bounds, whatever is seen', () => {
    const sample = fc.record({
      waitMs: fc.integer({ min: 0, max: 700_000 }),
      ms: fc.double({ min: 1, max: 1e6, noNaN: true }),
      calls: fc.integer({ min: 0, max: 500 }),
      drops: fc.integer({ min: 0, max: 500 }),
      inflight: fc.integer({ min: 0, max: 5_000 }),
      size: fc.constantFrom('chat5', 'chat9', 'first4'),
    });
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 60 }), samples => {
        let state = freshState(0);
        let most: number = ADAPTIVE.most;
        const sound = samples.every(({ waitMs, ms, calls, size, drops, inflight }) => {
          const before = state;
          const latencies = calls > 0 ? { [size]: { calls, ms } } : {};
          most = Math.max(most, inflight);
          state = nextLimit(before, { at: before.at + waitMs, latencies, drops, inflight }, ADAPTIVE);
          return isSound(before.reach, state, most);
        });
        expect(sound).toBe(true);
      }),
    );
  });
});
