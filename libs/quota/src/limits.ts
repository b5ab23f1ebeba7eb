import type { LimitSettings, Priority, PrioritySettings } from '@spillway/contracts';

/** What is configured: calls at the same time, calls and tokens a minute, tokens a day, the slope of calls. */
export type LimitName = 'inflight' | 'rpm' | 'tpm' | 'tpd' | 'growth';
/** What answers teach: what is left by a provider's word, its wish to be left alone, the rate of the climber. */
export type LearnedLimit = 'observed-requests' | 'observed-tokens' | 'retry-after' | 'climb';
/** What can refuse a call. */
export type Binding = LimitName | LearnedLimit;

/** How fast the use of a model may grow. */
export interface GrowthSettings {
  /** Use in `per_s` seconds may exceed that of the `per_s` before by this share. */
  readonly max_ratio: number;
  readonly per_s: number;
  /** Requests a second that are always allowed. */
  readonly floor_rps: number;
}

/** How the rate of a model climbs; all of it is explained in climber.ts. */
export interface ClimbSettings {
  readonly mode: 'auto' | 'on' | 'off';
  readonly initial_rps: number;
  /** 0: none. */
  readonly max_rps: number;
  /** Seconds of its rate that may go at once after a rest. */
  readonly burst_s: number;
  readonly interval_s: number;
  readonly strict_error_ratio: number;
  readonly relax_error_ratio: number;
  readonly probe_ratio: number;
  readonly fast_probe_ratio: number;
  /** When a model that was down began to come back, ms since the epoch; absent: none does. */
  readonly returned_at?: number;
}

/** The share of its rate and limits that a model gets while it comes back after it was down. */
export const RETURNING_SHARE = 0.7;

/** What the configuration says about the use of a model. */
export interface ModelLimits {
  readonly limits: LimitSettings;
  readonly headroom: number;
  readonly growth?: GrowthSettings | undefined;
  /** Absent: nothing is learned from its answers. */
  readonly climb?: ClimbSettings | undefined;
}

export type Shares = Readonly<Record<Priority, Pick<PrioritySettings, 'share' | 'min_share'>>>;

/** The configuration as it is now; read at every decision, so that a reload takes effect. */
export abstract class QuotaSettings {
  /** Null: not configured, without limits. */
  abstract limitsOf(model: string): ModelLimits | null;
  abstract shares(): Shares;
}

export interface ClimbTerms extends ClimbSettings {
  /** For how many ms the rate does not grow after a signal of the slope. */
  readonly hold_ms: number;
}

/** The terms under which a model is used: its limits less the headroom (0: none), and what each class may have. */
export interface Terms extends LimitSettings {
  /** Whether there is any limit; the windows of a model without one are not kept. */
  readonly limited: boolean;
  readonly growth?: GrowthSettings | undefined;
  /** Absent: nothing is learned. */
  readonly climb?: ClimbTerms | undefined;
  /** By rank of the class. */
  readonly share: readonly number[];
  readonly min_share: readonly number[];
}

/** Rounded down, but never below 1 where the limit is at least 1. The tiny addend undoes binary fractions. */
export function portion(share: number, limit: number): number {
  if (share <= 0) return 0;
  return Math.max(Math.floor(share * limit + 1e-9), limit >= 1 ? 1 : 0);
}
