import type { Random } from '../../../simulator/src/random';

/** A moment of a curve and the rate there. */
export interface RatePoint {
  readonly ms: number;
  readonly perMs: number;
}

/** Milliseconds of random arrivals whose rate follows straight lines between the points (a Poisson process). */
export function arrivalTimes(curve: readonly RatePoint[], random: Random): number[] {
  const times: number[] = [];
  let wanted = 0;
  const next = (): number => (wanted -= Math.log(1 - random()));
  next();
  let before = 0;
  curve.slice(1).forEach((end, index) => {
    const start = curve[index] ?? end;
    const span = end.ms - start.ms;
    const expected = ((start.perMs + end.perMs) / 2) * span;
    for (; wanted < before + expected; next()) times.push(start.ms + timeOf(wanted - before, start, end, span));
    before += expected;
  });
  return times;
}

/** When a straight line of rates has brought so many arrivals: the root of `rate × t + slope × t² / 2 = arrivals`. */
function timeOf(arrivals: number, start: RatePoint, end: RatePoint, span: number): number {
  const slope = (end.perMs - start.perMs) / span;
  const root = Math.sqrt(Math.max(0, start.perMs ** 2 + 2 * slope * arrivals));
  return (2 * arrivals) / (start.perMs + root);
}
