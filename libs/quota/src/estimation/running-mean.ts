/** Values that a mean looks back on, more or less. */
const MEMORY = 200;

/** The mean of `count` values, of which `value` is the last; the old fade. */
export function runningMean(before: number, value: number, count: number): number {
  return before + (value - before) / Math.min(count, MEMORY);
}
