import { PRIORITIES } from '@spillway/contracts';
import type { Terms } from './limits';
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
}

/** The use of one model: what its windows hold, the calls under way, and how waiting calls are served. */
export class ModelUse {
  /** Calls under way by rank of their class. */
  readonly inflight = new Float64Array(PRIORITIES.length);
  readonly minute = new Ring(MINUTE);
  readonly day = new Ring(DAY);
  growth: Ring | null = null;
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
    if (!terms.limited) return;
    this.ahead += Math.max(0, this.lastNow - now);
    this.lastNow = now;
    const time = now + this.ahead;
    this.minute.advance(time);
    this.day.advance(time);
    if (terms.growth === undefined) return;
    const shape = growthShape(terms.growth);
    if (this.growth?.shape.width !== shape.width) this.growth = new Ring(shape);
    this.growth.advance(time);
  }

  /** Books one call in the windows as they were last advanced. */
  take(rank: number, tokens: number): Booking {
    this.inflight[rank] = (this.inflight[rank] ?? 0) + 1;
    this.minute.add(rank, 1);
    this.minute.add(TOKENS + rank, tokens);
    this.day.add(rank, tokens);
    this.growth?.add(0, 1);
    return { rank, tokens, minute: this.minute.at, day: this.day.at, growth: this.growth?.at ?? 0 };
  }

  /**
   * Ends a call and corrects what was booked for it to what it used; null: that is not known. What was booked too much
   * is taken from where it was booked; what was too little is booked now, the later of the times a provider may count.
   */
  settle(booking: Booking, used: number | null): void {
    const { rank, tokens } = booking;
    this.inflight[rank] = Math.max(0, (this.inflight[rank] ?? 0) - 1);
    const surplus = used === null ? 0 : used - tokens;
    this.minute.add(TOKENS + rank, surplus, surplus < 0 ? booking.minute : undefined);
    this.day.add(rank, surplus, surplus < 0 ? booking.day : undefined);
  }

  /** Ends a call that was never made. */
  cancel(booking: Booking): void {
    this.settle(booking, 0);
    this.minute.add(booking.rank, -1, booking.minute);
    this.growth?.add(0, -1, booking.growth);
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
