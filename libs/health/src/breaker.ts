import { isSlow, withLatency, withOutrun, type Baselines } from './baselines';
import {
  adaptiveThreshold,
  freshRecord,
  type BreakerSettings,
  type DegradedReason,
  type HealthState,
  type ModelRecord,
  type OpenReason,
} from './model-record';
import type { Bar, Outcome } from './outcome';
import { BUCKETS, bucketAt, countsOf, errorRateOf, withCall, type Counts } from './window';

type InState<Kind extends HealthState['kind']> = Extract<HealthState, { kind: Kind }>;

/** So many good calls in a row close a breaker. */
export const GOOD_CALLS = 5;
/** The last twelfth of the window, 5 s of 60, tells what happens now; the threshold is worked out as often. */
const RECENT = BUCKETS / 12;
/** More slow calls than these mean that the 95th percentile is slow. */
const SLOW_SHARE = 0.05;
/** For so long a model must be slow before it counts: half the window, 30 s of 60. */
const SLOW_FOR = 0.5;
/** From this weight on a call counts as failed where one call decides. */
const FAILED = 0.5;
/** Milliseconds from one probe of a model that is coming back to the next, without calls of others. */
const TRIAL_EVERY_MS = 150;
/** The long rests of what somebody must act on, in `open_max_s`: the last of them. They begin with one. */
const LONGEST_RESTS = 20;
/** The longest that a provider can ask to be left alone, ms. */
const LONGEST_ASKED_MS = 3_600_000;

/** What is known of a model after one more of its calls. Pure: time is in the outcome. */
export function afterCall(record: ModelRecord, outcome: Outcome, settings: BreakerSettings): ModelRecord {
  const { state } = record;
  switch (state.kind) {
    case 'closed':
    case 'degraded':
      return whileInUse(record, state, outcome, settings);
    case 'open':
      return whileOpen(record, state, outcome, settings);
    case 'half-open':
      return whileTried(record, state, outcome, settings);
    default:
      return state satisfies never;
  }
}

/** Whether somebody should call the model to see how it is. */
export function isProbeDue({ state, pausedSince }: ModelRecord, now: number): boolean {
  return state.kind !== 'closed' && pausedSince === null && now >= state.probeAt;
}

/** The record with its probe taken for as long as a probe may last; null: none is due. */
export function withProbe(record: ModelRecord, now: number, longestMs: number): ModelRecord | null {
  const { state } = record;
  if (state.kind === 'closed' || !isProbeDue(record, now)) return null;
  const probeAt = now + longestMs;
  if (state.kind !== 'open') return { ...record, state: { ...state, probeAt } };
  const { why, times } = state;
  return { ...record, state: { kind: 'half-open', since: now, why, times, good: 0, probeAt } };
}

/** The share of the calls in the window that failed, now. */
export function errorRate({ window }: ModelRecord, now: number, { window_s: windowS }: BreakerSettings): number {
  return errorRateOf(countsOf(window, bucketAt(now, windowS)));
}

function whileInUse(
  record: ModelRecord,
  state: InState<'closed' | 'degraded'>,
  outcome: Outcome,
  settings: BreakerSettings,
): ModelRecord {
  const { finding, at } = outcome;
  if (finding.kind === 'barred') return opened(record, finding.why, 0, outcome, settings);
  if (finding.kind === 'untold') return record;
  if (finding.kind === 'outrun') return { ...record, baselines: afterOutrun(record.baselines, outcome) };
  const counted = count(record, finding.weight, outcome, settings);
  const bucket = bucketAt(at, settings.window_s);
  const whole = countsOf(counted.window, bucket);
  const recent = countsOf(counted.window, bucket, RECENT);
  const down = whyOpen(counted, whole, settings);
  if (down !== null) return opened(counted, down, 0, outcome, settings);
  if (state.kind === 'degraded') return recovering(counted, state, recent, outcome, settings);
  const why = whyDegraded(counted, { whole, recent }, at, settings);
  if (why === null) return counted;
  const probeAt = at + settings.open_min_s * 1000;
  return { ...counted, state: { kind: 'degraded', since: at, why, good: 0, probeAt } };
}

function count(record: ModelRecord, weight: number, outcome: Outcome, settings: BreakerSettings): ModelRecord {
  const { at, latency, operation } = outcome;
  const bucket = bucketAt(at, settings.window_s);
  const slow = latency !== null && isSlow(record.baselines, latency.size, latency.ms);
  const window = withCall(record.window, bucket, weight, slow);
  const recent = countsOf(window, bucket, RECENT);
  const isNowSlow = recent.slow > SLOW_SHARE * recent.calls;
  return {
    ...record,
    window,
    operation,
    failures: weight >= FAILED ? record.failures + 1 : 0,
    threshold: thresholdAt(record, window, bucket, at, settings),
    slowSince: isNowSlow ? (record.slowSince ?? at) : null,
    baselines: afterAnswer(record.baselines, outcome),
  };
}

function afterAnswer(baselines: Baselines, { latency, foreseen, at }: Outcome): Baselines {
  const known = latency ? withLatency(baselines, latency.size, latency.ms, at) : baselines;
  return foreseen ? withLatency(known, foreseen.size, foreseen.ms, at) : known;
}

function afterOutrun(baselines: Baselines, { foreseen }: Outcome): Baselines {
  return foreseen ? withOutrun(baselines, foreseen.size, foreseen.ms) : baselines;
}

function thresholdAt(
  { threshold }: ModelRecord,
  window: ModelRecord['window'],
  bucket: number,
  at: number,
  { window_s: windowS, min_requests: enough }: BreakerSettings,
): ModelRecord['threshold'] {
  if (at - threshold.at < (windowS * 1000 * RECENT) / BUCKETS) return threshold;
  const whole = countsOf(window, bucket);
  return { at, value: adaptiveThreshold(whole.calls < enough ? 1 : 1 - errorRateOf(whole)) };
}

function whyOpen({ failures }: ModelRecord, whole: Counts, settings: BreakerSettings): OpenReason | null {
  if (failures >= settings.consecutive_failures) return 'consecutive-failures';
  const enough = whole.calls >= settings.min_requests && whole.errors > 0;
  return enough && errorRateOf(whole) >= settings.open_error_rate ? 'error-rate' : null;
}

function whyDegraded(
  { threshold, slowSince }: ModelRecord,
  { whole, recent }: { readonly whole: Counts; readonly recent: Counts },
  at: number,
  settings: BreakerSettings,
): DegradedReason | null {
  if (whole.calls < settings.min_requests) return null;
  if (whole.errors > 0 && errorRateOf(whole) >= settings.degraded_error_rate) return 'error-rate';
  if (recent.calls >= settings.min_requests && 1 - errorRateOf(recent) < threshold.value) return 'sudden-errors';
  const slowForMs = slowSince === null ? 0 : at - slowSince;
  return slowForMs >= SLOW_FOR * settings.window_s * 1000 ? 'slow' : null;
}

/** A run of good calls is not enough while others still fail: the last moments must be good as well. */
function recovering(
  record: ModelRecord,
  state: InState<'degraded'>,
  recent: Counts,
  { startedAt, at, finding, latency }: Outcome,
  settings: BreakerSettings,
): ModelRecord {
  if (startedAt < state.since) return record;
  const slow = latency !== null && isSlow(record.baselines, latency.size, latency.ms);
  const isGood = finding.kind === 'counted' && finding.weight === 0 && !slow;
  const good = isGood ? state.good + 1 : 0;
  const isCalm = errorRateOf(recent) < settings.degraded_error_rate && recent.slow <= SLOW_SHARE * recent.calls;
  if (good >= GOOD_CALLS && isCalm) return closed(record, at);
  return { ...record, state: { ...state, good, probeAt: at + settings.open_min_s * 1000 } };
}

/** Calls that come to a model that is open had begun before, or found no better one. */
function whileOpen(
  record: ModelRecord,
  state: InState<'open'>,
  outcome: Outcome,
  settings: BreakerSettings,
): ModelRecord {
  const { finding, startedAt, at, retryAfterMs } = outcome;
  if (finding.kind === 'barred' && !isBar(state.why)) return opened(record, finding.why, 0, outcome, settings);
  if (finding.kind !== 'counted') return record;
  if (finding.weight < FAILED) {
    return startedAt < state.since ? record : tried(record, { ...state, kind: 'half-open', since: at, good: 0 }, at);
  }
  const probeAt = Math.max(state.probeAt, at + Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS));
  return probeAt === state.probeAt ? record : { ...record, state: { ...state, probeAt } };
}

function whileTried(
  record: ModelRecord,
  state: InState<'half-open'>,
  outcome: Outcome,
  settings: BreakerSettings,
): ModelRecord {
  const { finding, startedAt, at, retryAfterMs } = outcome;
  if (startedAt < state.since) return record;
  switch (finding.kind) {
    case 'barred':
      return opened(record, finding.why, state.times + 1, outcome, settings);
    case 'counted':
      return finding.weight < FAILED
        ? tried(record, state, at)
        : opened(record, state.why, state.times + 1, outcome, settings);
    case 'outrun':
    case 'untold': {
      const probeAt = at + Math.max(TRIAL_EVERY_MS, Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS));
      return { ...record, state: { ...state, probeAt } };
    }
    default:
      return finding satisfies never;
  }
}

function tried(record: ModelRecord, state: InState<'half-open'>, at: number): ModelRecord {
  const good = state.good + 1;
  if (good >= GOOD_CALLS) return closed(record, at);
  return { ...record, state: { ...state, good, probeAt: at + TRIAL_EVERY_MS } };
}

/** Preheating: what was counted before says nothing about a model that has come back. */
function closed({ baselines, operation, pausedSince, canary }: ModelRecord, at: number): ModelRecord {
  return { ...freshRecord(at), baselines, operation, pausedSince, canary };
}

function opened(
  record: ModelRecord,
  why: OpenReason,
  times: number,
  { at, retryAfterMs, operation }: Outcome,
  { open_min_s: shortest, open_max_s: longest }: BreakerSettings,
): ModelRecord {
  const [first, last] = isBar(why) ? [longest, longest * LONGEST_RESTS] : [shortest, longest];
  const restMs = Math.min(first * 2 ** times, last) * 1000;
  const probeAt = at + Math.max(restMs, Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS));
  return { ...record, operation, slowSince: null, state: { kind: 'open', since: at, why, times, probeAt } };
}

function isBar(why: OpenReason): why is Bar {
  switch (why) {
    case 'quota':
    case 'auth':
    case 'billing':
    case 'unknown-model':
      return true;
    case 'error-rate':
    case 'consecutive-failures':
      return false;
    default:
      return why satisfies never;
  }
}
