/** The usual latency of calls of one size: how many were seen, about their 95th percentile in ms, its last forced rise. */
type Baseline = readonly [calls: number, ms: number, raisedAt: number];

/** By size. */
export type Baselines = Readonly<Record<string, Baseline>>;

/** So many calls make a baseline: the slowest of twenty is about their 95th percentile. */
const ENOUGH = 20;
const PERCENTILE = 0.95;
/** Of a quantile estimate that takes one step for each call, in the logarithm: up by 10 % at most, down by 0.5 %. */
const STEP = 0.1;
/** A call is slow from so many times its baseline on, and not below so many ms. */
const SLOW_FACTOR = 3;
const SLOW_MS = 800;
/** Slow calls raise a baseline only so often, ms: what is slow for good becomes usual in minutes, not in seconds. */
const RISE_EVERY_MS = 80_000;

/** Whether a call took far longer than calls of its size usually do. */
export function isSlow(baselines: Baselines, size: string, ms: number): boolean {
  const [calls, usual] = baselines[size] ?? [0, 0];
  return calls >= ENOUGH && ms >= SLOW_MS && ms > SLOW_FACTOR * usual;
}

/** The baselines after one more call. */
export function withLatency(baselines: Baselines, size: string, ms: number, at: number): Baselines {
  return { ...baselines, [size]: next(baselines[size], Math.max(1, ms), at) };
}

function next(known: Baseline | undefined, ms: number, at: number): Baseline {
  if (known === undefined) return [1, ms, at];
  const [calls, usual, raisedAt] = known;
  if (calls < ENOUGH) return [calls + 1, Math.max(usual, ms), at];
  const rises = ms > usual;
  const forced = ms > SLOW_FACTOR * usual && ms >= SLOW_MS;
  if (forced && at - raisedAt < RISE_EVERY_MS) return known;
  const step = STEP * (rises ? PERCENTILE : PERCENTILE - 1);
  return [calls, Math.round(usual * Math.exp(step) * 100) / 100, forced ? at : raisedAt];
}
