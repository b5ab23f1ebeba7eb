import { createHash } from 'node:crypto';
import type { VectorEntry } from '../../libs/cache/src/vectors/vector-index';

/** An id as the cache makes them. */
export function idOf(name: string): string {
  return createHash('sha256').update(name).digest('base64url');
}

export const PLACE = { partition: idOf('p'), fingerprint: idOf('f') };

/** What makes entries of this vector at that place, kept for a minute. */
export function entriesOf(vector: Float32Array, now: () => number) {
  return (name: string, more: Partial<VectorEntry> = {}): VectorEntry => ({
    ...PLACE,
    id: idOf(name),
    text: name,
    vector,
    expiresAt: now() + 60_000,
    ...more,
  });
}

/** Numbers from 0 to 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A vector of length 1 in a random direction. */
export function randomVector(random: () => number, dimension: number): Float32Array {
  return unit(Float32Array.from({ length: dimension }, () => random() + random() + random() - 1.5));
}

/** A vector near another: the cosine of both is about `cosine`. */
export function near(vector: Float32Array, cosine: number, random: () => number): Float32Array {
  const other = randomVector(random, vector.length);
  const along = vector.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
  const across = unit(other.map((value, index) => value - along * (vector[index] ?? 0)));
  const sine = Math.sqrt(1 - cosine * cosine);
  return vector.map((value, index) => cosine * value + sine * (across[index] ?? 0));
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map(value => value / length);
}
