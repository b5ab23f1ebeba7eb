import { wordsOf } from '../quality/words';

const LONGEST = 4;

/**
 * How near a text is to the one that was expected, from 0 (no word in common) to 1 (the same words in the same order):
 * BLEU with n-grams up to four words (Papineni et al., "BLEU: a method for automatic evaluation of machine translation",
 * ACL 2002), for one text and one reference. Two short texts rarely share four words in a row, so n-grams longer than a
 * word are smoothed by adding one to those found and to all of them (Lin and Och, "ORANGE", COLING 2004).
 */
export function bleu4(text: string, reference: string): number {
  const [said, expected] = [wordsOf(text), wordsOf(reference)];
  if (said.length === 0 || expected.length === 0) return 0;
  let logarithms = 0;
  for (let length = 1; length <= LONGEST; length++) {
    const added = length === 1 ? 0 : 1;
    const precision = (shared(said, expected, length) + added) / (gramsIn(said, length) + added);
    if (precision === 0) return 0;
    logarithms += Math.log(precision);
  }
  const brevity = Math.min(0, 1 - expected.length / said.length);
  return Math.exp(brevity + logarithms / LONGEST);
}

function gramsIn(words: readonly string[], length: number): number {
  return Math.max(0, words.length - length + 1);
}

/** N-grams of the text that the reference has as well, each at most as often as it is there. */
function shared(text: readonly string[], reference: readonly string[], length: number): number {
  const left = counted(reference, length);
  let found = 0;
  for (const [gram, count] of counted(text, length)) found += Math.min(count, left.get(gram) ?? 0);
  return found;
}

function counted(words: readonly string[], length: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let start = 0; start < gramsIn(words, length); start++) {
    const gram = words.slice(start, start + length).join(' ');
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}
