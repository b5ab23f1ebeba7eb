/**
 * The usual latency of calls of one size: how many were seen, about their 95th percentile in ms, its last forced rise,
 * and how many calls that were outrun may raise it now.
 */
type Baseline = readonly [calls: number, ms: number, raisedAt: number, room?: number];

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

/** So many calls below a percentile go with one above it. */
const FALLS_FOR_A_RISE = PERCENTILE / (1 - PERCENTILE);
/** While a model is slow all its calls may be outrun; together they raise a baseline by a third at most. */
const MOST_ROOM = 3;

/** About the 95th percentile of the latency of calls of a size, ms; null: too few were seen. */
export function usualOf(baselines: Baselines, size: string): number | null {
  const [calls, usual] = baselines[size] ?? [0, 0];
  return calls < ENOUGH ? null : usual;
}

/** Whether a call took far longer than calls of its size usually do. */
export function isSlow(baselines: Baselines, size: string, ms: number): boolean {
  const usual = usualOf(baselines, size);
  return usual !== null && ms >= SLOW_MS && ms > SLOW_FACTOR * usual;
}

/** The baselines after one more call. */
export function withLatency(baselines: Baselines, size: string, ms: number, at: number): Baselines {
  return { ...baselines, [size]: next(baselines[size], Math.max(1, ms), at) };
}

/**
 * The baselines after a call that had not ended after so many ms and was given up. If those that take longest were just
 * left out, the others would make the model look faster than it is, and still more would be given up.
 */
export function withOutrun(baselines: Baselines, size: string, ms: number): Baselines {
  const [calls, usual, raisedAt, room = 0] = baselines[size] ?? [0, 0, 0];
  if (calls < ENOUGH || ms <= usual || room < 1) return baselines;
  return { ...baselines, [size]: [calls, stepped(usual, PERCENTILE), raisedAt, room - 1] };
}

function next(known: Baseline | undefined, ms: number, at: number): Baseline {
  if (known === undefined) return [1, ms, at];
  const [calls, usual, raisedAt, room = 0] = known;
  if (calls < ENOUGH) return [calls + 1, Math.max(usual, ms), at];
  const rises = ms > usual;
  const forced = ms > SLOW_FACTOR * usual && ms >= SLOW_MS;
  if (forced && at - raisedAt < RISE_EVERY_MS) return known;
  if (rises) return [calls, stepped(usual, PERCENTILE), forced ? at : raisedAt, room];
  return [calls, stepped(usual, PERCENTILE - 1), raisedAt, Math.min(MOST_ROOM, room + 1 / FALLS_FOR_A_RISE)];
}

function stepped(usual: number, steps: number): number {
  return Math.round(usual * Math.exp(STEP * steps) * 100) / 100;
}
