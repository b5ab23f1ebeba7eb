import { nearestBySigns } from './sign-scan';
import { SIGN_WORDS, signsOf } from './signs';

const BLOCK_BITS = 10;
const BLOCK_ROWS = 1 << BLOCK_BITS;
const GREATEST = 127;

/** A vector in a byte a number; its length does not matter. */
export type ByteVector = Int8Array;

/** The vectors of numbered rows, in blocks, so that growing copies nothing. */
export class RowVectors {
  private readonly vectors: Int8Array[] = [];
  private readonly signs: Int32Array[] = [];
  /** One over the length of each stored vector. */
  private readonly factors: Float32Array[] = [];

  constructor(readonly dimension: number) {}

  /** Keeps a vector in a row that is in use already, or the next one. */
  set(row: number, vector: ByteVector): void {
    const block = row >>> BLOCK_BITS;
    if (block === this.vectors.length) this.grow();
    const at = row & (BLOCK_ROWS - 1);
    this.vectors[block]?.set(vector, at * this.dimension);
    this.signs[block]?.set(signsOf(vector), at * SIGN_WORDS);
    this.factors[block]?.set([1 / Math.sqrt(dot(vector, vector, 0))], at);
  }

  get(row: number): ByteVector {
    const at = (row & (BLOCK_ROWS - 1)) * this.dimension;
    return this.block(row).subarray(at, at + this.dimension);
  }

  /** The cosine of a vector of length 1 and a row. */
  score(row: number, vector: Float32Array): number {
    const at = row & (BLOCK_ROWS - 1);
    const factor = this.factors[row >>> BLOCK_BITS]?.[at] ?? 0;
    return dot(vector, this.block(row), at * this.dimension) * factor;
  }

  /** Those of the rows that are probably nearest: at least `count`, if there are as many. */
  nearest(rows: readonly number[], vector: Float32Array, count: number): readonly number[] {
    if (rows.length <= count) return rows;
    return nearestBySigns({ blocks: this.signs, blockBits: BLOCK_BITS }, rows, signsOf(vector), count);
  }

  private grow(): void {
    this.vectors.push(new Int8Array(BLOCK_ROWS * this.dimension));
    this.signs.push(new Int32Array(BLOCK_ROWS * SIGN_WORDS));
    this.factors.push(new Float32Array(BLOCK_ROWS));
  }

  private block(row: number): Int8Array {
    const block = this.vectors[row >>> BLOCK_BITS];
    if (block === undefined) throw new RangeError(`no row ${row}`);
    return block;
  }
}

/** The vector in bytes; it has a direction. */
export function inBytes(vector: Float32Array): ByteVector {
  let greatest = 0;
  for (let index = 0; index < vector.length; index++) {
    const size = Math.abs(vector[index] as number);
    if (size > greatest) greatest = size;
  }
  const bytes = new Int8Array(vector.length);
  for (let index = 0; index < vector.length; index++) {
    bytes[index] = Math.round(((vector[index] as number) / greatest) * GREATEST);
  }
  return bytes;
}

function dot(left: Float32Array | Int8Array, right: Int8Array, at: number): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += (left[index] as number) * (right[at + index] as number);
  return sum;
}
