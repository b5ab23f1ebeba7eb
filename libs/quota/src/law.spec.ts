import fc from 'fast-check';
import { bookable, judge } from './law';
import { portion, type Terms } from './limits';
import { ModelUse, type Booking } from './model-use';
import { termsFrom } from './terms';

const START = 1_800_000_000_000;
const GROWTH = { max_ratio: 0.2, per_s: 10, floor_rps: 0.5 };

interface Entry {
  readonly at: number;
  readonly rank: number;
  tokens: number;
  readonly booking: Booking;
  running: boolean;
}

/** The same law with exact logs: slow, obvious, and the judge of the other one. */
class Oracle {
  readonly log: Entry[] = [];

  constructor(private readonly terms: Terms) {}

  /** Sum over all classes and over one, of what happened in (now - span, now]. */
  private held(now: number, span: number, rank: number, of: (entry: Entry) => number): [all: number, own: number] {
    const recent = this.log.filter(entry => entry.at > now - span);
    const sum = (entries: Entry[]): number => entries.reduce((total, entry) => total + of(entry), 0);
    return [sum(recent), sum(recent.filter(entry => entry.rank === rank))];
  }

  /** The names of the limits that do not allow one more; `slack` lengthens the windows. */
  refusals(now: number, rank: number, tokens: number, slack = 0): string[] {
    const { terms } = this;
    const over = (limit: number, [all, own]: [number, number], amount: number): boolean => {
      if (limit === 0) return false;
      const share = portion(terms.share[rank] ?? 1, limit);
      if (all + amount > limit) return true;
      return all + Math.min(amount, share) > share && own + amount > portion(terms.min_share[rank] ?? 0, limit);
    };
    const running = (entry: Entry): number => (entry.running ? 1 : 0);
    const call = (): number => 1;
    const spent = (entry: Entry): number => entry.tokens;
    const minute = 60_000 + slack;
    const names = [
      over(terms.inflight, this.held(now, Infinity, rank, running), 1) && 'inflight',
      over(terms.rpm, this.held(now, minute, rank, call), 1) && 'rpm',
      over(terms.tpm, this.held(now, minute, rank, spent), Math.min(tokens, terms.tpm)) && 'tpm',
      over(terms.tpd, this.held(now, 86_400_000 + slack * 480, rank, spent), Math.min(tokens, terms.tpd)) && 'tpd',
      this.tooSteep(now, slack / 1000) && 'growth',
    ];
    return names.filter(name => name !== false);
  }

  private tooSteep(now: number, slackS: number): boolean {
    const { growth } = this.terms;
    if (growth === undefined) return false;
    const period = growth.per_s * 1000;
    const slack = slackS > 0 ? (3 * period) / 240 : 0;
    const count = (from: number, to: number): number =>
      this.log.filter(entry => entry.at > now - from && entry.at <= now - to).length;
    const before = count(2 * period - slack, period + slack);
    const allowed = Math.max(growth.floor_rps * growth.per_s, (1 + growth.max_ratio) * before);
    return count(period + slack, 0) + 1 > allowed + 1e-9;
  }
}

const step = fc.record({
  wait: fc.oneof({ weight: 6, arbitrary: fc.nat(900) }, { weight: 1, arbitrary: fc.nat(130_000) }),
  rank: fc.nat(2),
  tokens: fc.nat(120),
  what: fc.oneof(
    { weight: 5, arbitrary: fc.constant('ask' as const) },
    { weight: 2, arbitrary: fc.constantFrom('success' as const, 'unknown' as const, 'cancel' as const) },
  ),
  used: fc.nat(120),
});

const limit = (max: number): fc.Arbitrary<number> => fc.oneof(fc.constant(0), fc.integer({ min: 1, max }));

const termsArbitrary = fc
  .record({
    limits: fc.record({ inflight: limit(12), rpm: limit(25), tpm: limit(900), tpd: limit(3000) }),
    headroom: fc.constantFrom(0, 0.05, 0.2),
    growth: fc.option(fc.constant(GROWTH), { nil: undefined }),
  })
  .map(model =>
    termsFrom(model, {
      critical: { share: 1, min_share: 0 },
      normal: { share: 0.9, min_share: 0.1 },
      low: { share: 0.7, min_share: 0.05 },
    }),
  );

describe('the law', () => {
  it('never lets a window hold more than its limit, and refuses nothing that would fit', () => {
    let admitted = 0;
    const refused = new Map<string, number>();
    fc.assert(
      fc.property(termsArbitrary, fc.array(step, { minLength: 40, maxLength: 150 }), (terms, steps) => {
        const use = new ModelUse();
        const oracle = new Oracle(terms);
        let now = START;
        for (const { wait, rank, tokens, what, used } of steps) {
          now += wait;
          use.advance(terms, now);
          const running = oracle.log.find(entry => entry.running);
          if (what === 'ask') {
            const verdict = judge(terms, use, { rank, tokens });
            if (verdict.admitted) {
              expect(oracle.refusals(now, rank, tokens)).toEqual([]);
              const booked = bookable(terms, tokens);
              oracle.log.push({ at: now, rank, tokens: booked, booking: use.take(rank, booked), running: true });
              admitted++;
            } else {
              expect(oracle.refusals(now, rank, tokens, 501)).not.toEqual([]);
              refused.set(verdict.limit, (refused.get(verdict.limit) ?? 0) + 1);
            }
          } else if (running !== undefined) {
            running.running = false;
            if (what === 'cancel') {
              use.cancel(running.booking);
              oracle.log.splice(oracle.log.indexOf(running), 1);
            } else {
              const counted = what === 'unknown' ? null : Math.min(used, running.tokens);
              use.settle(running.booking, counted);
              running.tokens = counted ?? running.tokens;
            }
          }
        }
      }),
      { numRuns: 400 },
    );
    expect(admitted).toBeGreaterThan(1000);
    for (const name of ['inflight', 'rpm', 'tpm', 'tpd', 'growth']) expect(refused.get(name)).toBeGreaterThan(20);
  });

  it('says when it can next admit: then, and not a moment before', () => {
    let checked = 0;
    fc.assert(
      fc.property(termsArbitrary, fc.array(step, { minLength: 40, maxLength: 150 }), (terms, steps) => {
        const use = new ModelUse();
        let now = START;
        for (const { wait, rank, tokens } of steps) {
          now += wait;
          use.advance(terms, now);
          const verdict = judge(terms, use, { rank, tokens });
          if (verdict.admitted) use.take(rank, bookable(terms, tokens));
          else if (verdict.at !== null) {
            const { limit: name, at } = verdict;
            expect(at).toBeGreaterThan(now);
            const refusedBy = (when: number): string | null => {
              use.advance(terms, when);
              const later = judge(terms, use, { rank, tokens });
              return later.admitted ? null : later.limit;
            };
            expect(refusedBy(at - 1)).toBe(name);
            if (name !== 'growth') expect(refusedBy(at)).not.toBe(name);
            now = at;
            checked++;
          }
        }
      }),
      { numRuns: 200 },
    );
    expect(checked).toBeGreaterThan(500);
  });

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

  it('follows the steepest allowed ramp closely', () => {
    const law = terms({}, { growth: { max_ratio: 0.2, per_s: 3, floor_rps: 10 } });
    const use = new ModelUse();
    const perPeriod: number[] = [];
    for (let period = 0; period < 24; period++) {
      let count = 0;
      for (let at = 0; at < 3000; at += 5) {
        use.advance(law, START + period * 3000 + at);
        count += fill(use, law, 0);
      }
      perPeriod.push(count);
    }
    expect(perPeriod[0]).toBe(30);
    const ratio = (perPeriod[23] ?? 0) / (perPeriod[3] ?? 1);
    const periods = Math.log(ratio) / Math.log(1.2);
    expect(periods / 20).toBeGreaterThan(0.9);
    expect(periods / 20).toBeLessThanOrEqual(1);
  });
});
