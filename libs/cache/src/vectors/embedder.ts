import type { HelperGuard } from './helper-guard';

/** Turns texts into vectors. */
export abstract class Embedder {
  /** Names the model; vectors of embedders with different ids are never compared. */
  abstract readonly id: string;

  /** Numbers in a vector; null until the first one is known. */
  abstract readonly dimension: number | null;

  /** Least cosine at which two texts mostly ask the same: for guards that trust the score. */
  abstract readonly similarityThreshold: number;

  /** Least cosine at which comparing two texts word by word is worth while: for the guard that decides by itself. */
  abstract readonly candidateThreshold: number;

  /** How far scores can be trusted: `strict` where they tell of spelling, `balanced` where they tell of meaning. */
  abstract readonly defaultGuard: 'strict' | 'balanced';

  /** The breaker in front of it; null: it is in this process. */
  readonly guard: HelperGuard | null = null;

  /**
   * A vector of length 1 for each text.
   * @throws HelperUnavailable; for the caller that is a miss.
   */
  abstract embed(texts: readonly string[]): Promise<Float32Array[]>;
}

/** Makes the length 1; false where a vector has no direction. */
export function normalise(vector: Float32Array): boolean {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (!(sum > 0) || !Number.isFinite(sum)) return false;
  const factor = 1 / Math.sqrt(sum);
  for (let index = 0; index < vector.length; index++) vector[index] = (vector[index] ?? 0) * factor;
  return true;
}
