import type { Clock } from '@spillway/contracts';
import { GrowthMeter } from './growth-limit';
import type { SimulatedModel } from './settings';
import { SlidingWindow } from './sliding-window';

export type LimitReason = 'inflight' | 'rpm' | 'tpm' | 'tpd' | 'growth';

export type Admission =
  | { readonly admitted: true }
  | {
      readonly admitted: false;
      readonly reason: LimitReason;
      readonly limit: number;
      /** Milliseconds until the same call would fit if nobody else came; null: never, or not known. */
      readonly retryAfterMs: number | null;
    };

/** What a header family tells about one limit. */
export interface LimitUse {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the whole limit is free again. */
  readonly resetMs: number;
}

const ADMITTED: Admission = { admitted: true };
const MS_UNTIL_ANOTHER_CALL_ENDS = 1000;

/**
 * The limits of one model, kept exactly: what a call uses is known when it arrives (the simulator knows the length of
 * its answer beforehand), so it is booked then and never corrected. Only admitted calls are booked.
 */
export class ModelLimits {
  private minuteCalls: SlidingWindow;
  private minuteTokens: SlidingWindow;
  private dayTokens: SlidingWindow;
  private growth: GrowthMeter | null;
  private inflightNow = 0;
  private inflightPeak = 0;

  constructor(
    private settings: SimulatedModel,
    private readonly clock: Clock,
  ) {
    this.minuteCalls = new SlidingWindow(settings.window_s * 1000);
    this.minuteTokens = new SlidingWindow(settings.window_s * 1000);
    this.dayTokens = new SlidingWindow(settings.day_s * 1000);
    this.growth = growthMeterOf(settings);
  }

  get inflight(): number {
    return this.inflightNow;
  }

  /** The most calls that were in flight at the same time. */
  get peakInflight(): number {
    return this.inflightPeak;
  }

  /** Changes the limits; what is booked stays booked as long as its window keeps its length. */
  reconfigure(settings: SimulatedModel): void {
    this.minuteCalls = ofSpan(this.minuteCalls, settings.window_s);
    this.minuteTokens = ofSpan(this.minuteTokens, settings.window_s);
    this.dayTokens = ofSpan(this.dayTokens, settings.day_s);
    if (settings.limits.growth !== this.settings.limits.growth) this.growth = growthMeterOf(settings);
    this.settings = settings;
  }

  /** Takes the call in and holds a slot for it until `release`, or says which limit refuses it. */
  admit(tokens: number): Admission {
    const now = this.clock.now();
    const refusal = this.refusal(now, tokens);
    const { rpm, tpm, tpd } = this.settings.limits;
    if (refusal !== null) {
      if (this.settings.count_refused && rpm > 0) this.minuteCalls.add(now, 1, rpm);
      return refusal;
    }
    if (rpm > 0) this.minuteCalls.add(now, 1);
    if (tpm > 0) this.minuteTokens.add(now, tokens);
    if (tpd > 0) this.dayTokens.add(now, tokens);
    this.growth?.add(now, tokens);
    this.hold();
    return ADMITTED;
  }

  /** Takes a slot for a call that is not limited: one that a script answers. */
  hold(): void {
    this.inflightNow += 1;
    this.inflightPeak = Math.max(this.inflightPeak, this.inflightNow);
  }

  /** Gives back a slot; exactly once for each that was taken. */
  release(): void {
    this.inflightNow -= 1;
  }

  calls(): LimitUse | null {
    return this.use(this.minuteCalls, this.settings.limits.rpm);
  }

  tokens(): LimitUse | null {
    return this.use(this.minuteTokens, this.settings.limits.tpm);
  }

  private use(window: SlidingWindow, limit: number): LimitUse | null {
    if (limit === 0) return null;
    const now = this.clock.now();
    return { limit, remaining: Math.max(0, limit - window.total(now)), resetMs: window.msUntilEmpty(now) };
  }

  private refusal(now: number, tokens: number): Admission | null {
    const { rpm, tpm, tpd, inflight, growth } = this.settings.limits;
    if (inflight > 0 && this.inflightNow >= inflight) {
      return { admitted: false, reason: 'inflight', limit: inflight, retryAfterMs: MS_UNTIL_ANOTHER_CALL_ENDS };
    }
    const over =
      this.over('rpm', this.minuteCalls, rpm, 1, now) ??
      this.over('tpm', this.minuteTokens, tpm, tokens, now) ??
      this.over('tpd', this.dayTokens, tpd, tokens, now);
    if (over !== null) return over;
    if (this.growth === null || growth === null || this.growth.admits(now, tokens)) return null;
    return {
      admitted: false,
      reason: 'growth',
      limit: growth.max_ratio,
      retryAfterMs: this.growth.msUntilChange(now),
    };
  }

  private over(
    reason: LimitReason,
    window: SlidingWindow,
    limit: number,
    amount: number,
    now: number,
  ): Admission | null {
    if (limit === 0 || window.total(now) + amount <= limit) return null;
    return { admitted: false, reason, limit, retryAfterMs: window.msUntilFits(now, amount, limit) };
  }
}

function growthMeterOf(settings: SimulatedModel): GrowthMeter | null {
  return settings.limits.growth === null ? null : new GrowthMeter(settings.limits.growth);
}

function ofSpan(window: SlidingWindow, seconds: number): SlidingWindow {
  return window.spanMs === seconds * 1000 ? window : new SlidingWindow(seconds * 1000);
}
