import { PRIORITIES } from '@spillway/contracts';
import type { ClimbTerms, Terms } from './limits';
import type { OwnUse } from './local-share';
import { Learned, type Lesson, type Sent } from './learned';
import { Ring } from './ring';
import { DAY, growthShape, MINUTE, TOKENS } from './shapes';

const RATE_MS = 30_000;
/** Fewer served waits than these say nothing about the rate. */
const ENOUGH = 10;

/** What one call was booked with, so that it can be corrected later. */
export interface Booking {
  readonly rank: number;
  readonly tokens: number;
  readonly minute: number;
  readonly day: number;
  readonly growth: number;
  /** Of the buckets of growth, ms: a reload may have made others since. */
  readonly growthWidth: number;
  /** What its answer is understood by; null: nothing is learned. */
  readonly sent: Sent | null;
}

/** The use of one model: what its windows hold, the calls under way, and how waiting calls are served. */
export class ModelUse {
  /** Calls under way by rank of their class. */
  readonly inflight = new Float64Array(PRIORITIES.length);
  readonly minute = new Ring(MINUTE);
  readonly day = new Ring(DAY);
  growth: Ring | null = null;
  /** What answers have taught; null: nothing is learned here. */
  learned: Learned | null = null;
  /** By rank: grants that a class has earned by its `min_share` while it waited. */
  readonly credit: number[] = PRIORITIES.map(() => 0);
  /**
   * What the time of the windows is ahead of the clock. While the clock is set back the windows stand still: what they
   * hold is then counted for longer than it must be, never for less.
   */
  ahead = 0;
  private lastNow = -Infinity;
  private served = 0;
  private servedNow = 0;
  private busyMs = 0;
  /** Since when somebody waits, as far as it is counted in `busyMs`; null: nobody waits. */
  private waitingSince: number | null = null;

  /** Moves the windows on to `now`. */
  advance(terms: Terms, now: number): void {
    this.ahead += Math.max(0, this.lastNow - now);
    this.lastNow = now;
    if (terms.climb) this.learned ??= new Learned();
    if (!terms.limited) return;
    const { time } = this;
    this.minute.advance(time);
    this.day.advance(time);
    if (terms.growth === undefined) return;
    const shape = growthShape(terms.growth);
    if (this.growth?.shape.width !== shape.width) this.growth = new Ring(shape);
    this.growth.advance(time);
  }

  /** The time of the windows, as they were last advanced. */
  get time(): number {
    return this.lastNow + this.ahead;
  }

  /** Books what was used elsewhere, now, which is never earlier than it was used. */
  book({ calls, tokens, dayTokens }: OwnUse): void {
    this.minute.add(0, calls);
    this.minute.add(TOKENS, tokens);
    this.day.add(0, dayTokens);
    this.growth?.add(0, calls);
  }

  /** So many more calls of a class are under way. */
  countCalls(rank: number, calls: number): void {
    this.inflight[rank] = Math.max(0, (this.inflight[rank] ?? 0) + calls);
  }

  /** Books one call in the windows as they were last advanced. */
  take(rank: number, tokens: number, climb?: ClimbTerms): Booking {
    this.countCalls(rank, 1);
    this.minute.add(rank, 1);
    this.minute.add(TOKENS + rank, tokens);
    this.day.add(rank, tokens);
    this.growth?.add(rank, 1);
    const sent = (climb && this.learned?.take(climb, tokens, this.known(), this.time)) ?? null;
    const growth = this.growth?.at ?? 0;
    const growthWidth = this.growth?.shape.width ?? 0;
    return { rank, tokens, minute: this.minute.at, day: this.day.at, growth, growthWidth, sent };
  }

  /**
   * Ends a call and corrects what was booked for it to what it used; null: that is not known. What was booked too much
   * is taken from where it was booked; what was too little is booked now, the later of the times a provider may count.
   */
  settle(booking: Booking, used: number | null): void {
    const { rank, tokens } = booking;
    this.countCalls(rank, -1);
    const surplus = used === null ? 0 : used - tokens;
    this.minute.add(TOKENS + rank, surplus, surplus < 0 ? booking.minute : undefined);
    this.day.add(rank, surplus, surplus < 0 ? booking.day : undefined);
    if (booking.sent) this.learned?.settle(booking.sent.call, surplus);
  }

  /** Books a call under way anew, now, with so many tokens. */
  rebook(booking: Booking, tokens: number): Booking {
    const { rank, sent } = booking;
    this.minute.add(TOKENS + rank, -booking.tokens, booking.minute);
    this.day.add(rank, -booking.tokens, booking.day);
    this.minute.add(TOKENS + rank, tokens);
    this.day.add(rank, tokens);
    if (sent) this.learned?.settle(sent.call, tokens - booking.tokens);
    return { ...booking, tokens, minute: this.minute.at, day: this.day.at, sent: sent && { ...sent, tokens } };
  }

  /** Takes in what the answer of a call has told. */
  learn(terms: Terms, { sent }: Booking, lesson: Lesson): void {
    if (terms.climb && sent) this.learned?.learn(terms, terms.climb, sent, lesson, this.time);
  }

  /** Ends a call that was never made. */
  cancel(booking: Booking): void {
    this.settle(booking, 0);
    this.minute.add(booking.rank, -1, booking.minute);
    if (this.growth?.shape.width === booking.growthWidth) this.growth.add(booking.rank, -1, booking.growth);
    if (booking.sent) this.learned?.cancel(booking.sent.call);
  }

  /** A grant to a class: the other classes that wait earn their `min_share` of it, and it pays with a whole one. */
  bookCredits(rank: number, minShare: readonly number[], waits: (rank: number) => boolean): void {
    for (let other = 1; other < this.credit.length; other++) {
      const counts = other === rank || waits(other);
      const earned = counts ? Math.min((this.credit[other] ?? 0) + (minShare[other] ?? 0), 2) : 0;
      this.credit[other] = other === rank ? Math.max(0, earned - 1) : earned;
    }
  }

  get idle(): boolean {
    return this.inflight.every(calls => calls === 0);
  }

  /** Whether nobody calls and no limit of a minute or a day counts anything. */
  isUnused({ tpd }: Terms, now: number): boolean {
    const time = now + this.ahead;
    return this.idle && this.minute.whenEmpty(0) <= time && (tpd === 0 || this.day.whenEmpty(0) <= time);
  }

  /** For how many ms the provider wants to be left alone. */
  get restMs(): number {
    return this.learned?.restMs(this.time) ?? 0;
  }

  private known(): Sent['known'] {
    const sumOf = (lane: number): number =>
      PRIORITIES.reduce((sum, _, rank) => sum + (this.minute.sums[0]?.[lane + rank] ?? 0), 0);
    return { requests: sumOf(0), tokens: sumOf(TOKENS) };
  }

  startWaiting(now: number): void {
    this.waitingSince ??= now;
  }

  /** A wait got its permit here. */
  countServed(): void {
    this.servedNow++;
  }

  /** Takes the waits served since the last time into the rate; older ones fade. */
  bookRate(waiting: boolean, now: number): void {
    const gone = this.waitingSince === null ? 0 : Math.max(0, now - this.waitingSince);
    const fade = Math.exp(-gone / RATE_MS);
    this.busyMs = this.busyMs * fade + gone;
    this.served = this.served * fade + this.servedNow;
    this.servedNow = 0;
    this.waitingSince = waiting ? now : null;
  }

  /** Waits served per millisecond while any waited; 0: not known. */
  get rate(): number {
    return this.served >= ENOUGH && this.busyMs > 0 ? this.served / this.busyMs : 0;
  }
}
