/** The value below which `share` (0 to 1) of the values lie; null where there are none. */
export function quantile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}

export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A part of a whole; null where there is no whole. */
export function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

/** Values by equal spans of time: `spans` lists that together cover 0 to `endMs`. */
export function bySpan<Value>(
  values: readonly Value[],
  msOf: (value: Value) => number,
  endMs: number,
  spans: number,
): Value[][] {
  const result: Value[][] = Array.from({ length: spans }, () => []);
  for (const value of values) {
    const index = Math.min(spans - 1, Math.max(0, Math.floor((msOf(value) / endMs) * spans)));
    result[index]?.push(value);
  }
  return result;
}
