import { isIdeograph, wordsOf } from './words';

/** Characters that are compared, the last ones: what they cost does not grow with the answer. */
const COMPARED = 4_000;
/** Fewer trigrams say nothing. */
const FEWEST = 30;
/** A trigram repeats when it occurs so often. */
const OFTEN = 3;
/** Chinese and Japanese words have about two characters, and no spaces between them. */
const CHARACTERS_OF_A_TRIGRAM = 6;

/** The share of a text's trigrams, three words in a row, that occur three times or more; 0 to 1. Linear in its length. */
export function repeatedShare(text: string): number {
  const words = wordsOf(text.slice(-COMPARED));
  const counts = new Map<string, number>();
  for (let start = 0; start < words.length; start++) {
    const length = isIdeograph(words[start] ?? '') ? CHARACTERS_OF_A_TRIGRAM : 3;
    if (start + length > words.length) continue;
    const trigram = words.slice(start, start + length).join(' ');
    counts.set(trigram, (counts.get(trigram) ?? 0) + 1);
  }
  let all = 0;
  let repeated = 0;
  for (const count of counts.values()) {
    all += count;
    if (count >= OFTEN) repeated += count;
  }
  return all < FEWEST ? 0 : repeated / all;
}
