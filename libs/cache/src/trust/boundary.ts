/** One-sided 90 %: at 90 % streams of public questions stayed at two thirds of the budget. */
const Z = 1.282;

/** Judgements needed before a boundary means anything. */
export const LEAST_LABELS = 30;

/** Highest rate that `count` of `total` leave plausible (Wilson 1927), at 90 %. */
export function wilsonUpper(count: number, total: number): number {
  return total === 0 ? 1 : wilson(count, total, Z);
}

/** Lowest rate that `count` of `total` leave plausible (Wilson 1927), at 90 %. */
export function wilsonLower(count: number, total: number): number {
  return total === 0 ? 0 : wilson(count, total, -Z);
}

function wilson(count: number, total: number, z: number): number {
  const rate = count / total;
  const spread = z * Math.sqrt((rate * (1 - rate)) / total + (z * z) / (4 * total * total));
  return (rate + (z * z) / (2 * total) + spread) / (1 + (z * z) / total);
}

/** What would have been reused for one call, and what was judged of it. */
export interface Trial {
  /** That the answer serves, 0 to 1. */
  readonly probability: number;
  readonly same: boolean;
}

export interface ErrorBudget {
  /** Share of calls that may be answered wrongly from the cache. */
  readonly errors: number;
  /** Share of wrong reuses that the judge takes for right ones. */
  readonly judgeError: number;
}

/**
 * The least probability at which reuse stays within the budget: among the trials, each one a call, the wrong ones at
 * or above it are, at 90 %, no more than `errors` of all. Null while no boundary has at least 30 trials above it.
 */
export function boundaryOf(trials: readonly Trial[], { errors, judgeError }: ErrorBudget): number | null {
  const sorted = [...trials].sort((a, b) => b.probability - a.probability);
  const allowed = errors * (1 - judgeError);
  let wrong = 0;
  let boundary: number | null = null;
  for (const [index, { probability, same }] of sorted.entries()) {
    if (!same) wrong += 1;
    if (index + 1 < LEAST_LABELS || sorted[index + 1]?.probability === probability) continue;
    if (wilsonUpper(wrong, sorted.length) <= allowed) boundary = probability;
  }
  return boundary;
}
