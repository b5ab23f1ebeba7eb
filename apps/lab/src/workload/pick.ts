import type { Random } from '../../../simulator/src/random';

/** Draws an index. */
export type Pick = (random: Random) => number;

/** Draws 0 to count − 1, the first most often, by Zipf's law; exponent 0: all alike. */
export function zipf(count: number, exponent: number): Pick {
  return weighted(Array.from({ length: count }, (_, index) => (index + 1) ** -exponent));
}

/** Draws an index as often as its weight says. */
export function weighted(weights: readonly number[]): Pick {
  let sum = 0;
  const ends = weights.map(weight => (sum += weight));
  return random => {
    const drawn = random() * sum;
    const index = ends.findIndex(end => drawn < end);
    return index < 0 ? ends.length - 1 : index;
  };
}
