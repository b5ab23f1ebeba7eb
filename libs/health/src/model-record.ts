import type { Operation } from '@spillway/contracts';
import type { Baselines } from './baselines';
import type { Bar } from './outcome';
import type { Window } from './window';

/** When a model counts as degraded or down, as configured. */
export interface BreakerSettings {
  readonly window_s: number;
  /** Calls in the window before rates count. */
  readonly min_requests: number;
  readonly degraded_error_rate: number;
  readonly open_error_rate: number;
  /** In a row. */
  readonly consecutive_failures: number;
  readonly open_min_s: number;
  readonly open_max_s: number;
}

/** Why a model is used less: many failures in the window, or in its last twelfth; or long and slow. */
export type DegradedReason = 'error-rate' | 'sudden-errors' | 'slow';
export type OpenReason = Bar | 'error-rate' | 'consecutive-failures';

/** Times are ms since the epoch, by the clock that all processes share. */
export type HealthState =
  /** In use. While fewer than `min_requests` calls are counted it is preheating: rates decide nothing yet. */
  | { readonly kind: 'closed'; readonly since: number }
  /** Used less. `good`: calls in a row that were as they should be; a probe is due at `probeAt`. */
  | {
      readonly kind: 'degraded';
      readonly since: number;
      readonly why: DegradedReason;
      readonly good: number;
      readonly probeAt: number;
    }
  /** Not called before `probeAt`. `times`: how often in a row it has opened. */
  | {
      readonly kind: 'open';
      readonly since: number;
      readonly why: OpenReason;
      readonly times: number;
      readonly probeAt: number;
    }
  /** Tried: by one probe while none has passed (`good` is 0), then by a part of its calls. */
  | {
      readonly kind: 'half-open';
      readonly since: number;
      readonly why: OpenReason;
      readonly times: number;
      readonly good: number;
      /** Whoever makes a probe moves this on as far as its probe may take, so that there is one at a time. */
      readonly probeAt: number;
    };

/** How a model answers questions with known answers. */
export interface CanaryRecord {
  /** Whoever asks moves this on first, so that one process does. */
  readonly dueAt: number;
  /** Which questions the scores are of: others say nothing about them. */
  readonly asked: string;
  /** The mean score of each of the last times, the newest last. */
  readonly scores: readonly number[];
  /** When the newest one came. */
  readonly toldAt: number;
  /** Until then the answers of the model count as worse; 0: they do not. */
  readonly failedUntil: number;
}

/** All that is known of the health of a model. */
export interface ModelRecord {
  readonly state: HealthState;
  readonly window: Window;
  /** Failures in a row. */
  readonly failures: number;
  /** The least share of good calls in the last twelfth of the window, and when it was worked out. */
  readonly threshold: { readonly at: number; readonly value: number };
  /** Since when too many calls are slow; null: they are not. */
  readonly slowSince: number | null;
  readonly baselines: Baselines;
  /** What it was last asked to do; a probe asks the same. */
  readonly operation: Operation;
  /** Null: not paused. A paused model is called by nobody. */
  readonly pausedSince: number | null;
  /** How it answers questions with known answers; null: it was not asked yet. */
  readonly canary: CanaryRecord | null;
}

/** Of a model of which nothing is known. */
export function freshRecord(now: number): ModelRecord {
  return {
    state: { kind: 'closed', since: now },
    window: [],
    failures: 0,
    threshold: { at: now, value: THRESHOLD_OF_A_GOOD_MODEL },
    slowSince: null,
    baselines: {},
    operation: 'chat',
    pausedSince: null,
    canary: null,
  };
}

const THRESHOLD_OF_A_GOOD_MODEL = 0.8;

/**
 * The least share of good calls that a model may fall to in the last moments before it is used less:
 * max(0.6, 0.8 − 0.1 × (1 − success rate)), with the success rate of the whole window. So a model that has been good
 * must stay above 0.8, one that has always been worse is not dropped for being as bad as ever.
 */
export function adaptiveThreshold(successRate: number): number {
  return Math.max(0.6, THRESHOLD_OF_A_GOOD_MODEL - 0.1 * (1 - successRate));
}
