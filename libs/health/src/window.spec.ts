import fc from 'fast-check';
import { BUCKETS, bucketAt, countsOf, errorRateOf, withCall, type Window } from './window';

const WINDOW_S = 60;

interface LoggedCall {
  readonly gap: number;
  readonly error: number;
  readonly slow: boolean;
}

const logs = fc.array(
  fc.record<LoggedCall>({
    gap: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 90_000 })),
    error: fc.constantFrom(0, 0, 0.25, 1),
    slow: fc.boolean(),
  }),
  { maxLength: 200 },
);

describe('the window', () => {
  it('counts exactly what a log of every call counts, in the whole and in its last part', () => {
    fc.assert(
      fc.property(
        logs,
        fc.integer({ min: 0, max: 80_000 }),
        fc.integer({ min: 1, max: BUCKETS }),
        (log, later, part) => {
          let time = 1_800_000_000_000;
          let window: Window = [];
          const all = log.map(({ gap, error, slow }) => {
            time += gap;
            window = withCall(window, bucketAt(time, WINDOW_S), error, slow);
            return { bucket: bucketAt(time, WINDOW_S), error, slow };
          });
          const now = bucketAt(time + later, WINDOW_S);
          const counted = all.filter(({ bucket }) => bucket > now - part);
          expect(countsOf(window, now, part)).toEqual({
            calls: counted.length,
            errors: counted.reduce((sum, { error }) => sum + error, 0),
            slow: counted.filter(({ slow }) => slow).length,
          });
          expect(window.length).toBeLessThanOrEqual(BUCKETS);
        },
      ),
    );
  });

  it('counts what comes late in its newest bucket', () => {
    const window = withCall(withCall([], 10, 1, false), 8, 0, true);
    expect(window).toEqual([[10, 2, 1, 1]]);
  });

  it('has no error rate without calls', () => {
    expect(errorRateOf({ calls: 0, errors: 0, slow: 0 })).toBe(0);
    expect(errorRateOf({ calls: 4, errors: 1, slow: 0 })).toBe(0.25);
  });
});
