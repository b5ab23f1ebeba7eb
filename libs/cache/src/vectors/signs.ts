/** 32-bit words of signs for each vector. */
export const SIGN_WORDS = 12;

const SIGNS = 32 * SIGN_WORDS;
/** A power of two, not below the number of signs. */
const SPREAD = 512;

/**
 * The signs of a vector after a random rotation. The share of signs in which two vectors differ is near their angle,
 * by half a turn, also where most of their numbers are zero: the rotation spreads every number over all signs.
 */
export function signsOf(vector: ArrayLike<number>): Int32Array {
  const spread = new Float32Array(SPREAD);
  for (let index = 0; index < vector.length; index++) {
    const place = index & (SPREAD - 1);
    spread[place] = (spread[place] ?? 0) + (isFlipped(index) ? -(vector[index] ?? 0) : (vector[index] ?? 0));
  }
  hadamard(spread);
  const signs = new Int32Array(SIGN_WORDS);
  for (let index = 0; index < SIGNS; index++) {
    if ((spread[index] ?? 0) > 0) signs[index >>> 5] = (signs[index >>> 5] ?? 0) | (1 << (index & 31));
  }
  return signs;
}

/** Walsh-Hadamard transform in place. */
function hadamard(values: Float32Array): void {
  for (let half = 1; half < values.length; half *= 2) {
    for (let start = 0; start < values.length; start += 2 * half) {
      for (let index = start; index < start + half; index++) {
        const left = values[index] ?? 0;
        const right = values[index + half] ?? 0;
        values[index] = left + right;
        values[index + half] = left - right;
      }
    }
  }
}

/** A coin for each place that falls the same in every process. */
function isFlipped(index: number): boolean {
  let coin = Math.imul(index + 1, 0x9e3779b1);
  coin = Math.imul(coin ^ (coin >>> 15), 0x85ebca6b);
  return ((coin ^ (coin >>> 13)) & 1) === 1;
}
