import { isIdeograph, wordsOf } from './words';

/** Characters that are compared, the last ones: what they cost does not grow with the answer. */
const COMPARED = 4_000;
/** Fewer trigrams say nothing. */
const FEWEST = 30;
/** A trigram repeats when it occurs so often. */
const OFTEN = 3;
/** Chinese and Japanese words have about two characters, and no spaces between them. */
const CHARACTERS_OF_A_TRIGRAM = 6;
const SEED = 2_166_136_261;

/** The share of a text's trigrams, three words in a row, that occur three times or more; 0 to 1. Linear in its length. */
export function repeatedShare(text: string): number {
  const trigrams = trigramsOf(wordsOf(text.slice(-COMPARED)));
  if (trigrams.length < FEWEST) return 0;
  // Equal ones stand together then.
  trigrams.sort();
  let repeated = 0;
  let from = 0;
  for (let at = 1; at <= trigrams.length; at++) {
    if (trigrams[at] === trigrams[from]) continue;
    if (at - from >= OFTEN) repeated += at - from;
    from = at;
  }
  return repeated / trigrams.length;
}

/** As numbers: as texts they would be half of what a call leaves to the garbage collector. */
function trigramsOf(words: readonly string[]): Uint32Array {
  const hashes = new Uint32Array(words.length);
  for (let at = 0; at < words.length; at++) hashes[at] = hashOf(words[at] ?? '');
  const trigrams = new Uint32Array(words.length);
  let count = 0;
  for (let start = 0; start < words.length; start++) {
    const length = isIdeograph(words[start] ?? '') ? CHARACTERS_OF_A_TRIGRAM : 3;
    if (start + length > words.length) continue;
    let hash = SEED;
    for (let at = start; at < start + length; at++) hash = mixed(hash, hashes[at] ?? 0);
    trigrams[count] = hash;
    count += 1;
  }
  return trigrams.subarray(0, count);
}

function hashOf(word: string): number {
  let hash = SEED;
  for (let at = 0; at < word.length; at++) hash = mixed(hash, word.charCodeAt(at));
  return hash;
}

/** A step of FNV-1a. */
function mixed(hash: number, value: number): number {
  return Math.imul(hash ^ value, 16_777_619);
}
