import fc from 'fast-check';
import { bookable, judge } from './law';
import { portion, type Terms } from './limits';
import { ModelUse, type Booking } from './model-use';
import { GROWTH_BUCKETS, TRAVEL_SPREAD_MS } from './shapes';
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
      this.tooSteep(now, rank, slack > 0) && 'growth',
    ];
    return names.filter(name => name !== false);
  }

  /** `spared`: by the least that may be known of what travels. */
  private tooSteep(now: number, rank: number, spared: boolean): boolean {
    const { growth } = this.terms;
    if (growth === undefined) return false;
    const period = growth.per_s * 1000;
    const slack = spared ? TRAVEL_SPREAD_MS + (2 * period) / GROWTH_BUCKETS : 0;
    const within = (from: number, to: number): Entry[] =>
      this.log.filter(entry => entry.at > now - from && entry.at <= now - to);
    const ownOf = (entries: Entry[]): number => entries.filter(entry => entry.rank === rank).length;
    const before = within(2 * period - slack, period + slack);
    const current = within(period + slack, 0);
    const own = ownOf(current) + 1;
    const share = this.terms.share[rank] ?? 1;
    const all = Math.max(growth.floor_rps * growth.per_s, (1 + growth.max_ratio) * before.length + 1e-9);
    if (current.length + 1 > all) return true;
    const again = (1 + share * growth.max_ratio) * ownOf(before) + 1e-9;
    const hasShare = current.length + 1 <= portion(share, all) || own <= again;
    return !hasShare && own > portion(this.terms.min_share[rank] ?? 0, all);
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
  jump: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(200_000) }),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

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

/** Plays steps against the law and the oracle; returns what was let through or refused wrongly. */
function play(terms: Terms, steps: readonly Step[], count: (what: string) => void, jumps = false): string[] {
  const [use, oracle, wrong]: [ModelUse, Oracle, string[]] = [new ModelUse(), new Oracle(terms), []];
  let now = START;
  let setBack = 0;
  const ask = (rank: number, tokens: number): void => {
    const verdict = judge(terms, use, { rank, tokens });
    count(verdict.admitted ? 'admitted' : verdict.limit);
    if (!verdict.admitted) {
      if (!jumps && oracle.refusals(now, rank, tokens, 501).length === 0) wrong.push(`refused by ${verdict.limit}`);
      return;
    }
    wrong.push(...oracle.refusals(now, rank, tokens).map(limit => `let through, against ${limit}`));
    const booked = bookable(terms, tokens);
    oracle.log.push({ at: now, rank, tokens: booked, booking: use.take(rank, booked), running: true });
  };
  const end = (entry: Entry, what: 'success' | 'unknown' | 'cancel', used: number): void => {
    entry.running = false;
    if (what === 'cancel') {
      use.cancel(entry.booking);
      oracle.log.splice(oracle.log.indexOf(entry), 1);
    } else {
      const counted = what === 'unknown' ? null : Math.min(used, entry.tokens);
      use.settle(entry.booking, counted);
      entry.tokens = counted ?? entry.tokens;
    }
  };
  for (const { wait, rank, tokens, what, used, jump } of steps) {
    now += wait;
    if (jumps) setBack += jump;
    use.advance(terms, now - setBack);
    const running = oracle.log.find(entry => entry.running);
    if (what === 'ask') ask(rank, tokens);
    else if (running !== undefined) end(running, what, used);
  }
  return wrong;
}

/** Asks until refused, again and again, at the moments that the law names; returns the moments that were wrong. */
function wrongMoments(terms: Terms, steps: readonly Step[], count: () => void): string[] {
  const [use, wrong]: [ModelUse, string[]] = [new ModelUse(), []];
  let now = START;
  for (const { wait, rank, tokens } of steps) {
    now += wait;
    use.advance(terms, now);
    const refusedBy = (at: number): string | null => {
      use.advance(terms, at);
      const verdict = judge(terms, use, { rank, tokens });
      return verdict.admitted ? null : verdict.limit;
    };
    const verdict = judge(terms, use, { rank, tokens });
    if (verdict.admitted) use.take(rank, bookable(terms, tokens));
    else if (verdict.at !== null) {
      const { limit, at } = verdict;
      if (at <= now) wrong.push(`${limit} at a time that has passed`);
      if (refusedBy(at - 1) !== limit) wrong.push(`${limit} would have admitted earlier`);
      // The period before shrinks meanwhile, so that a slope may still be too steep then.
      if (refusedBy(at) === limit && limit !== 'growth') wrong.push(`${limit} does not admit then`);
      now = at;
      count();
    }
  }
  return wrong;
}

describe('the law over random histories', () => {
  const histories = fc.array(step, { minLength: 40, maxLength: 150 });

  it('never lets a window hold more than its limit, and refuses nothing that would fit', () => {
    const counts = new Map<string, number>();
    const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
    fc.assert(
      fc.property(termsArbitrary, histories, (terms, steps) => expect(play(terms, steps, count)).toEqual([])),
      { numRuns: 400 },
    );
    for (const name of ['admitted', 'inflight', 'rpm', 'tpm', 'tpd', 'growth']) {
      expect(counts.get(name)).toBeGreaterThan(20);
    }
  });

  it('lets nothing too much through when the clock is set back again and again', () => {
    let count = 0;
    const note = (what: string): void => void (what === 'admitted' && count++);
    fc.assert(
      fc.property(termsArbitrary, histories, (terms, steps) =>
        expect(play({ ...terms, growth: undefined }, steps, note, true)).toEqual([]),
      ),
      { numRuns: 200 },
    );
    expect(count).toBeGreaterThan(500);
  });

  it('says when it can next admit: then, and not a moment before', () => {
    let checked = 0;
    const count = (): void => void checked++;
    fc.assert(
      fc.property(termsArbitrary, histories, (terms, steps) => expect(wrongMoments(terms, steps, count)).toEqual([])),
      { numRuns: 200 },
    );
    expect(checked).toBeGreaterThan(500);
  });
});
