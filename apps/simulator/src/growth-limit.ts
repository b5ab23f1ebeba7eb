import type { GrowthLimit } from './settings';
import { SlidingWindow } from './sliding-window';

/**
 * The slope limit. At time t, with P = `per_s`, the current period is (t − P, t] and the one before it (t − 2P, t − P].
 * A call is admitted if, itself counted, use(current) ≤ max(floor × P, (1 + max_ratio) × use(before)), where use counts
 * admitted calls with the floor `floor_rps`, and, where `floor_tps` is set, also their tokens.
 */
export class GrowthMeter {
  private readonly calls: PeriodPair;
  private readonly tokens: PeriodPair | null;

  constructor(private readonly limit: GrowthLimit) {
    this.calls = new PeriodPair(limit.per_s, limit.floor_rps);
    this.tokens = limit.floor_tps === undefined ? null : new PeriodPair(limit.per_s, limit.floor_tps);
  }

  admits(now: number, tokens: number): boolean {
    return (
      this.calls.admits(now, 1, this.limit.max_ratio) &&
      (this.tokens === null || this.tokens.admits(now, tokens, this.limit.max_ratio))
    );
  }

  add(now: number, tokens: number): void {
    this.calls.add(now, 1);
    this.tokens?.add(now, tokens);
  }

  /** Milliseconds until the first use of the current period leaves it: the earliest time that can change the answer. */
  msUntilChange(now: number): number {
    return this.calls.msUntilChange(now);
  }
}

class PeriodPair {
  private readonly current: SlidingWindow;
  private readonly both: SlidingWindow;
  private readonly floor: number;

  constructor(perS: number, floorPerS: number) {
    this.current = new SlidingWindow(perS * 1000);
    this.both = new SlidingWindow(perS * 2000);
    this.floor = perS * floorPerS;
  }

  admits(now: number, amount: number, maxRatio: number): boolean {
    const used = this.current.total(now);
    const before = this.both.total(now) - used;
    return used + amount <= Math.max(this.floor, (1 + maxRatio) * before);
  }

  add(now: number, amount: number): void {
    this.current.add(now, amount);
    this.both.add(now, amount);
  }

  msUntilChange(now: number): number {
    return this.current.msUntilNext(now);
  }
}
