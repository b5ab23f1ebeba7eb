/** How many buckets a window has; with the usual 60 s each is a second. */
export const BUCKETS = 60;

/** What ended in one bucket: its number, calls, failures (quality counts in part), and calls that were slow. */
type Bucket = readonly [index: number, calls: number, errors: number, slow: number];

/** The buckets in which anything ended, oldest first; its counts are exact. */
export type Window = readonly Bucket[];

export interface Counts {
  readonly calls: number;
  /** Sum of the weights of what went wrong. */
  readonly errors: number;
  readonly slow: number;
}

/** The bucket of a moment; `windowS`: seconds of the whole window. */
export function bucketAt(time: number, windowS: number): number {
  return Math.floor((time * BUCKETS) / (windowS * 1000));
}

/** The window with one more call in it. What comes late counts in the newest bucket: order is not worth more. */
export function withCall(window: Window, at: number, error: number, slow: boolean): Window {
  const [index, calls, errors, slowCalls] = window.at(-1) ?? [-Infinity, 0, 0, 0];
  const add = slow ? 1 : 0;
  if (at <= index) return window.with(-1, [index, calls + 1, errors + error, slowCalls + add]);
  const first = window.findIndex(([bucket]) => bucket > at - BUCKETS);
  return [...(first === -1 ? [] : window.slice(first)), [at, 1, error, add]];
}

/** What the `buckets` up to and with the bucket `at` hold. */
export function countsOf(window: Window, at: number, buckets = BUCKETS): Counts {
  const counts = { calls: 0, errors: 0, slow: 0 };
  for (let position = window.length - 1; position >= 0; position--) {
    const [index, calls, errors, slow] = window[position] ?? [-Infinity, 0, 0, 0];
    if (index <= at - buckets) break;
    counts.calls += calls;
    counts.errors += errors;
    counts.slow += slow;
  }
  return counts;
}

/** 0 without calls. */
export function errorRateOf({ calls, errors }: Counts): number {
  return calls === 0 ? 0 : errors / calls;
}
