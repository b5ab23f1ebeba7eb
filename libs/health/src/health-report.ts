import { canaryReport, type CanaryReport } from './canary/canary-answers';
import { bucketAt, countsOf, errorRateOf } from './window';
import type { BreakerSettings, HealthState, ModelRecord } from './model-record';

/** The health of a model as an operator sees it. */
export interface HealthReport {
  readonly state: HealthState['kind'];
  /** Why it is not closed; null: it is. */
  readonly why: string | null;
  /** When the state began, ISO 8601. */
  readonly since: string;
  /** Of the calls in the window, 0 to 1. */
  readonly errorRate: number;
  readonly calls: number;
  /** Whether too few calls are counted for rates to decide anything. */
  readonly preheating: boolean;
  /** In how many ms the next probe is due; null: none is needed, or it is paused. */
  readonly nextProbeMs: number | null;
  /** Since when an operator keeps it from being called; null: it is not. */
  readonly pausedSince: string | null;
  /** How it answers questions with known answers; null: it was not asked yet. */
  readonly canary: CanaryReport | null;
}

export function healthReport(record: ModelRecord, settings: BreakerSettings, now: number): HealthReport {
  const { state, pausedSince, window, canary } = record;
  const counts = countsOf(window, bucketAt(now, settings.window_s));
  return {
    state: state.kind,
    why: state.kind === 'closed' ? null : state.why,
    since: new Date(state.since).toISOString(),
    errorRate: Math.round(errorRateOf(counts) * 1000) / 1000,
    calls: counts.calls,
    preheating: state.kind === 'closed' && counts.calls < settings.min_requests,
    nextProbeMs: state.kind === 'closed' || pausedSince !== null ? null : Math.max(0, state.probeAt - now),
    pausedSince: pausedSince === null ? null : new Date(pausedSince).toISOString(),
    canary: canary === null ? null : canaryReport(canary, now),
  };
}
