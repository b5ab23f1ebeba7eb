import { eachWord, folded } from './words';

/** Characters that are compared, the last ones: what they cost does not grow with the answer. */
const COMPARED = 4_000;
/** Fewer trigrams say nothing. */
const FEWEST = 30;
/** A trigram repeats when it occurs so often. */
const OFTEN = 3;
/** Chinese and Japanese words have about two characters, and no spaces between them. */
const CHARACTERS_OF_A_TRIGRAM = 6;
const SEED = 2_166_136_261;

/** Of the text that is looked at, which is one at a time: hashes of its words, how many words a trigram is, trigrams. */
const hashes = new Uint32Array(COMPARED);
const lengths = new Uint8Array(COMPARED);
const trigrams = new Uint32Array(COMPARED);

/** The share of a text's trigrams, three words in a row, that occur three times or more; 0 to 1. Linear in its length. */
export function repeatedShare(text: string): number {
  const found = trigramsOf(folded(text.slice(-COMPARED)).slice(-COMPARED));
  if (found.length < FEWEST) return 0;
  // Equal ones stand together then.
  found.sort();
  let repeated = 0;
  let from = 0;
  for (let at = 1; at <= found.length; at++) {
    if (found[at] === found[from]) continue;
    if (at - from >= OFTEN) repeated += at - from;
    from = at;
  }
  return repeated / found.length;
}

/** As numbers: as texts they would be half of what a call leaves to the garbage collector. */
function trigramsOf(text: string): Uint32Array {
  let words = 0;
  eachWord(text, (from, to, isIdeograph) => {
    hashes[words] = hashOf(text, from, to);
    lengths[words] = isIdeograph ? CHARACTERS_OF_A_TRIGRAM : 3;
    words += 1;
  });
  let count = 0;
  for (let start = 0; start < words; start++) {
    const end = start + (lengths[start] ?? 0);
    if (end > words) continue;
    let hash = SEED;
    for (let at = start; at < end; at++) hash = mixed(hash, hashes[at] ?? 0);
    trigrams[count] = hash;
    count += 1;
  }
  return trigrams.subarray(0, count);
}

function hashOf(text: string, from: number, to: number): number {
  let hash = SEED;
  for (let at = from; at < to; at++) hash = mixed(hash, text.charCodeAt(at));
  return hash;
}

/** A step of FNV-1a. */
function mixed(hash: number, value: number): number {
  return Math.imul(hash ^ value, 16_777_619);
}
