import { normalise } from '../language/normalise';
import type { Rarity } from './rarity';

/** Characters that are looked at. */
const LONGEST = 600;
const [SHORTEST_GRAM, LONGEST_GRAM] = [3, 5];
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 16777619;

/** The sequences of three to five characters of a text, across words, hashed: what is left of it in other inflections. */
export function gramsOf(text: string): ReadonlySet<number> {
  const plain = ` ${normalise(text.slice(0, LONGEST))
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;
  const grams = new Set<number>();
  for (let start = 0; start + SHORTEST_GRAM <= plain.length; start++) {
    let hash = FNV_OFFSET;
    for (let length = 1; length <= LONGEST_GRAM && start + length <= plain.length; length++) {
      hash = Math.imul(hash ^ plain.charCodeAt(start + length - 1), FNV_PRIME);
      if (length >= SHORTEST_GRAM) grams.add(hash);
    }
  }
  return grams;
}

/** Cosine of two texts as bags of what they hold, rare things counting more; 0 to 1. */
export function rareCosine<Key>(a: ReadonlySet<Key>, b: ReadonlySet<Key>, rarity: Rarity<Key>): number {
  let [left, right, shared] = [0, 0, 0];
  for (const key of a) {
    const weight = rarity.of(key);
    left += weight;
    if (b.has(key)) shared += weight;
  }
  for (const key of b) right += rarity.of(key);
  return shared / (Math.sqrt(left * right) || 1);
}
