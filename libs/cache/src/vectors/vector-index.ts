import type { HelperGuard } from './helper-guard';

/** Where questions may be compared: equal partition and equal fingerprint, or not at all. */
export interface VectorPlace {
  readonly partition: string;
  readonly fingerprint: string;
}

/** A question that has an answer. */
export interface VectorEntry extends VectorPlace {
  /** The key its answer is kept under, a SHA-256 in base64url; unique within the partition. */
  readonly id: string;
  /** What was asked. */
  readonly text: string;
  /** Of length 1. */
  readonly vector: Float32Array;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface Neighbour {
  readonly id: string;
  readonly text: string;
  /** Cosine, -1 to 1. */
  readonly score: number;
}

/**
 * Finds questions near another. Never fails: trouble is no neighbours, or an entry that is not kept. What has expired
 * is never found.
 */
export abstract class VectorIndex {
  /** The breaker in front of it; null: it is in this process. */
  readonly guard: HelperGuard | null = null;

  /** The nearest entries at the place with at least `minScore`, nearest first. */
  abstract search(place: VectorPlace, vector: Float32Array, limit: number, minScore: number): Promise<Neighbour[]>;

  /** Keeps entries; one with the same partition and id is replaced. */
  abstract upsert(entries: readonly VectorEntry[]): Promise<void>;

  abstract delete(partition: string, ids: readonly string[]): Promise<void>;

  /** Forgets a partition, or everything. */
  abstract clear(partition?: string): Promise<void>;

  /** Entries of a partition, or of all; what has expired may still count. */
  abstract size(partition?: string): Promise<number>;
}

/** Whether a vector points anywhere; no other can be compared. */
export function hasDirection(vector: Float32Array): boolean {
  let isZero = true;
  for (let index = 0; index < vector.length; index++) {
    const value = vector[index] as number;
    if (!Number.isFinite(value)) return false;
    if (value !== 0) isZero = false;
  }
  return !isZero;
}
