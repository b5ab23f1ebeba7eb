import { SIGN_WORDS } from './signs';

/** Where the signs of a row are. */
export interface SignRows {
  /** Signs of the rows of one block after the other. */
  readonly blocks: readonly Int32Array[];
  /** Rows in a block are two to the power of this. */
  readonly blockBits: number;
}

const MOST_SIGNS = 32 * SIGN_WORDS;

/** Used again by every scan; a scan never waits. */
let distances = new Uint16Array(0);

/**
 * The rows whose signs differ least from the asked ones: about `count`, more where many differ as much as the last of
 * them. Two passes, counting first, because sorting costs more than the whole scan.
 */
export function nearestBySigns(
  { blocks, blockBits }: SignRows,
  rows: readonly number[],
  asked: Int32Array,
  count: number,
): number[] {
  if (distances.length < rows.length) distances = new Uint16Array(rows.length * 2);
  const counts = new Uint32Array(MOST_SIGNS + 1);
  const mask = (1 << blockBits) - 1;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] as number;
    const distance = differences(blocks[row >>> blockBits] as Int32Array, (row & mask) * SIGN_WORDS, asked);
    distances[index] = distance;
    counts[distance] = (counts[distance] as number) + 1;
  }
  const limit = distanceOf(counts, count);
  const nearest: number[] = [];
  for (let index = 0; index < rows.length; index++) {
    if ((distances[index] as number) <= limit) nearest.push(rows[index] as number);
  }
  return nearest;
}

/** The least distance that at least `count` rows have at most. */
function distanceOf(counts: Uint32Array, count: number): number {
  let seen = 0;
  for (let distance = 0; distance <= MOST_SIGNS; distance++) {
    seen += counts[distance] as number;
    if (seen >= count) return distance;
  }
  return MOST_SIGNS;
}

/** Signs that differ. Three words go together: their sum, bit by bit, is a word of ones and a word of twos. */
function differences(signs: Int32Array, at: number, asked: Int32Array): number {
  let bytes = 0;
  for (let word = 0; word < SIGN_WORDS; word += 3) {
    const a = (signs[at + word] as number) ^ (asked[word] as number);
    const b = (signs[at + word + 1] as number) ^ (asked[word + 1] as number);
    const c = (signs[at + word + 2] as number) ^ (asked[word + 2] as number);
    const either = a ^ b;
    let ones = either ^ c;
    let twos = (a & b) | (either & c);
    ones -= (ones >>> 1) & 0x55555555;
    twos -= (twos >>> 1) & 0x55555555;
    ones = (ones & 0x33333333) + ((ones >>> 2) & 0x33333333);
    twos = (twos & 0x33333333) + ((twos >>> 2) & 0x33333333);
    const nibbles = ones + 2 * twos;
    bytes += (nibbles & 0x0f0f0f0f) + ((nibbles >>> 4) & 0x0f0f0f0f);
  }
  return (bytes & 0xff) + ((bytes >>> 8) & 0xff) + ((bytes >>> 16) & 0xff) + (bytes >>> 24);
}
