/** By lower-case names. */
type Headers = ReadonlyMap<string, string>;

/** By how much two clocks may differ, ms: dates of answers are in whole seconds, and answers travel. */
const TOLERATED_MS = 30_000;

/** By how much the clock of a provider is ahead of ours, ms, if that is more than answers on their way explain. */
export function skewOf(headers: Headers, now: number): number | null {
  const date = headers.get('date');
  if (date === undefined) return null;
  const skew = Date.parse(date) - now;
  return Math.abs(skew) > TOLERATED_MS ? skew : null;
}

/** What time it is at the provider: ours, unless its own is another. */
export function providerNow(headers: Headers, now: number): number {
  return now + (skewOf(headers, now) ?? 0);
}
