import { RETURNING_SHARE, type ClimbSettings, type ClimbTerms } from './limits';
import { RecentRate } from './recent-rate';

/** Spans of the rate just seen, in intervals: what is going on, and what a limit of a minute has let through. */
const SHORT = 0.5;
const LONG = 6;
/** How long a ceiling that nobody reaches stays without an overload before it is lifted, ms. */
const LIFT_MS = 600_000;

/** Why the rate is what it is. */
export type ClimbReason =
  'initial' | 'overload' | 'fell' | 'kept' | 'climbed' | 'climbed-fast' | 'idle' | 'held' | 'lifted' | 'returned';

/** What happened in an interval, as the table of the steps takes it. */
export interface Interval {
  readonly rate: number;
  /** Calls that were let through. */
  readonly accepted: number;
  /** Overloads and errors of the provider. */
  readonly errors: number;
  readonly seconds: number;
  /** Whether a signal of the slope forbids growth. */
  readonly held: boolean;
}

/** The rate within its bounds: at least 1, at most `max_rps` where there is one. */
function clampRate({ max_rps }: Pick<ClimbSettings, 'max_rps'>, rate: number): number {
  return Math.max(1, max_rps > 0 ? Math.min(rate, max_rps) : rate);
}

/**
 * Calls that may go at once after a rest: those of `burst_s`. In `auto` at least those of `initial_rps`, or a single
 * refusal would make the few calls of a quiet hour wait for each other.
 */
function burst({ mode, initial_rps, burst_s }: ClimbSettings, rate: number): number {
  return Math.max(1, burst_s * (mode === 'auto' ? Math.max(rate, initial_rps) : rate));
}

/** The rate of the next interval. */
export function nextRate(settings: ClimbSettings, interval: Interval): { rate: number; why: ClimbReason } {
  const { rate, accepted, errors, seconds, held } = interval;
  const to = (factor: number, why: ClimbReason): { rate: number; why: ClimbReason } => ({
    rate: clampRate(settings, rate * factor),
    why,
  });
  const ratio = errors === 0 ? 0 : errors / accepted;
  if (errors > 0 && ratio >= settings.strict_error_ratio) return to(1 - settings.probe_ratio, 'fell');
  if (errors > 0 && ratio >= settings.relax_error_ratio) return to(1, 'kept');
  if (errors === 0 && accepted * 1.5 < rate * seconds) return to(1, 'idle');
  if (held) return to(1, 'held');
  return errors > 0 ? to(1 + settings.probe_ratio, 'climbed') : to(1 + settings.fast_probe_ratio, 'climbed-fast');
}

/**
 * The climber of one model: a ceiling on its rate that falls when the provider is overloaded and climbs when it is not,
 * and a token bucket that keeps it. No timers: it takes its steps when calls begin and end.
 */
export class Climber {
  /** Calls a second; null: no ceiling. */
  rate: number | null = null;
  why: ClimbReason | null = null;
  /** The grants so far; the number of a call is this at its grant. */
  calls = 0;
  /** Calls up to this number went out before the rate last fell: one burst of errors makes it fall once. */
  private fell = 0;
  private level = 0;
  private filled = 0;
  /** Start of the interval; null: none has begun. */
  private from: number | null = null;
  private accepted = 0;
  private errors = 0;
  private hold = 0;
  /** Since when there was no overload. */
  private clean = 0;
  /** The last return from being down that was taken in. */
  private returned = 0;
  /** Refusals of the interval that is not over. */
  private overloads = 0;
  private readonly sent = new RecentRate();
  /** Those of the sent that the provider has not refused, over the short span and the long one. */
  private readonly taken = new RecentRate();
  private readonly takenLong = new RecentRate();

  /** The ceiling that counts now; null: none. */
  ceiling(terms: ClimbTerms): number | null {
    if (terms.mode === 'off') return null;
    if (this.rate !== null) return clampRate(terms, this.rate);
    return terms.mode === 'on' ? clampRate(terms, terms.initial_rps) : null;
  }

  /** Null: one more call may go; else the moment at which it may. */
  refusedUntil(terms: ClimbTerms, time: number): number | null {
    const rate = this.ceiling(terms);
    if (rate === null || this.rate === null) return null;
    const level = this.levelAt(terms, time, rate);
    return level >= 1 - 1e-9 ? null : time + Math.ceil(((1 - level) / rate) * 1000);
  }

  /** A call goes out; returns its number. */
  take(terms: ClimbTerms, time: number): number {
    this.calls++;
    if (terms.mode === 'off') return this.calls;
    this.step(terms, time);
    const rate = this.ceiling(terms);
    if (rate !== null) this.fill(this.levelAt(terms, time, rate) - 1, time);
    this.accepted++;
    this.sent.add(time, SHORT * terms.interval_s);
    this.taken.add(time, SHORT * terms.interval_s);
    this.takenLong.add(time, LONG * terms.interval_s);
    return this.calls;
  }

  /** The call was never made. */
  cancel(): void {
    this.accepted = Math.max(0, this.accepted - 1);
    this.sent.withdraw();
    this.withdrawTaken();
    this.level++;
  }

  /** A call that the provider failed has ended. */
  fail(terms: ClimbTerms, time: number, call: number, overload: boolean, slope: boolean): void {
    if (terms.mode === 'off') return;
    this.step(terms, time);
    if (call > this.fell) this.errors++;
    if (!overload) return;
    this.clean = time;
    this.overloads++;
    this.withdrawTaken();
    if (slope) this.hold = Math.max(this.hold, time + terms.hold_ms);
    if (this.rate !== null) return;
    const first = Math.max(this.takenRate(time), Math.min(this.sent.at(time), terms.initial_rps));
    this.begin(terms, clampRate(terms, first), 1, 'overload', time);
  }

  /** Ends the interval if it is over. */
  step(terms: ClimbTerms, time: number): void {
    if (terms.mode === 'off') return;
    if (this.from === null) [this.from, this.clean] = [time, time];
    if (this.rate === null && terms.mode === 'on') {
      const rate = clampRate(terms, terms.initial_rps);
      this.begin(terms, rate, rate, 'initial', time);
    }
    if (terms.returned_at !== undefined && terms.returned_at > this.returned) this.comeBack(terms, time);
    const elapsed = time - this.from;
    if (elapsed < terms.interval_s * 1000) return;
    if (this.rate !== null) this.adjust(terms, time, elapsed / 1000);
    [this.from, this.accepted, this.errors, this.overloads] = [time, 0, 0, 0];
  }

  /** What was learned before the model was down no longer counts: it begins below its old rate, and climbs from there. */
  private comeBack(terms: ClimbTerms, time: number): void {
    this.returned = terms.returned_at ?? this.returned;
    this.fell = this.calls;
    [this.from, this.accepted, this.errors, this.overloads] = [time, 0, 0, 0];
    if (this.rate === null) return;
    const level = this.levelAt(terms, time, this.rate);
    this.begin(terms, clampRate(terms, this.rate * RETURNING_SHARE), level, 'returned', time);
  }

  private adjust(terms: ClimbTerms, time: number, seconds: number): void {
    const rate = this.ceiling(terms) ?? 1;
    const { accepted, errors } = this;
    const next = nextRate(terms, { rate, accepted, errors, seconds, held: time < this.hold });
    if (next.why === 'fell') {
      this.fell = this.calls;
      // A limit that lets half of it through would be met by small steps only after minutes of refusals.
      if (this.overloads > 0) next.rate = clampRate(terms, Math.min(next.rate, this.takenRate(time)));
    }
    const unused = terms.mode === 'auto' && next.why === 'idle' && time - this.clean >= LIFT_MS;
    if (unused) [this.rate, this.why] = [null, 'lifted'];
    else this.begin(terms, next.rate, this.levelAt(terms, time, rate), next.why, time);
  }

  private begin(terms: ClimbTerms, rate: number, level: number, why: ClimbReason, time: number): void {
    [this.rate, this.why] = [rate, why];
    this.fill(Math.min(level, burst(terms, rate)), time);
  }

  private fill(level: number, time: number): void {
    [this.level, this.filled] = [level, time];
  }

  private levelAt(terms: ClimbTerms, time: number, rate: number): number {
    return Math.min(burst(terms, rate), this.level + (rate * (time - this.filled)) / 1000);
  }

  private withdrawTaken(): void {
    this.taken.withdraw();
    this.takenLong.withdraw();
  }

  private takenRate(time: number): number {
    return Math.max(this.taken.at(time), this.takenLong.at(time));
  }
}
