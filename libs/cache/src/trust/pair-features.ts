import { isExplained } from '../language/dangers';
import type { Difference } from '../language/difference';
import { doubtOf } from '../language/doubts';
import type { GuardReason } from '../language/guard-reason';
import type { Term } from '../language/reading';
import type { Rarity } from './rarity';

/** A kept question beside the one that is asked. */
export interface Compared {
  readonly asked: readonly Term[];
  readonly kept: readonly Term[];
  /** Of the two, and what in it no similarity makes good. */
  readonly difference: Difference;
  readonly danger: GuardReason | null;
  /** Cosine of the two. */
  readonly score: number;
  /** By how much the nearest question of another group is farther; the same for words and for pieces of words. */
  readonly lead: number;
  readonly wordLead: number;
  readonly gramLead: number;
  /** Cosine of words, and of sequences of characters, rare ones counting more. */
  readonly words: number;
  readonly grams: number;
  /** Share of all candidates' scores that the kept one's group has, 0 to 1. */
  readonly agreement: number;
  /** Questions in the kept one's group. */
  readonly groupSize: number;
}

/**
 * What the verifier knows of a pair, each number about 0 to 3: the score and who agrees, which words are shared and how
 * rare those are that are not, and what the guard thinks of the difference.
 */
export function pairFeatures(pair: Compared, rarity: Rarity<string>): readonly number[] {
  const { asked, kept, score, lead, words, grams, agreement, groupSize } = pair;
  return [
    1,
    score * 4,
    score * score * 4,
    lead * 4,
    agreement * 2,
    score * agreement * 3,
    words * 3,
    words * agreement * 2,
    Math.log1p(groupSize) / 2,
    ...contentFeatures(asked, kept, rarity),
    ...guardFeatures(pair),
    Math.abs(asked.length - kept.length) / 5,
    grams * 4,
    pair.wordLead * 8,
    pair.gramLead * 8,
  ];
}

/** Shared and unshared words, weighed by how rare they are. */
function contentFeatures(asked: readonly Term[], kept: readonly Term[], rarity: Rarity<string>): number[] {
  const { shared, onlyA, onlyB, rarestShared, rarestUnshared } = overlap(
    asked.filter(isContent),
    kept.filter(isContent),
    rarity,
  );
  const all = shared + onlyA + onlyB || 1;
  const less = Math.min(onlyA, onlyB);
  return [
    (shared / all) * 3,
    (2 * shared) / (shared + less || 1),
    rarestUnshared / 8,
    rarestShared / 8,
    shared / 8,
    less / 8,
  ];
}

function guardFeatures({ difference, danger }: Compared): number[] {
  const { a, onlyA, onlyB, asksA, asksB } = difference;
  const doubt = doubtOf(difference);
  const sameAsks = asksA.size === asksB.size && [...asksA].every(ask => asksB.has(ask));
  return [
    Math.min(onlyA.length, 6) / 3,
    Math.min(onlyB.length, 6) / 3,
    Math.min(a.length, 10) / 5,
    Number(danger !== null),
    Number(danger === 'polarity'),
    Number(danger === 'quantity'),
    Number(doubt !== null),
    Number(doubt === 'entity'),
    Number(sameAsks),
    Number(asksA.size > 0 && asksB.size > 0),
    Number(isExplained(difference)),
  ];
}

interface Overlap {
  readonly shared: number;
  readonly onlyA: number;
  readonly onlyB: number;
  readonly rarestShared: number;
  readonly rarestUnshared: number;
}

function overlap(a: readonly Term[], b: readonly Term[], rarity: Rarity<string>): Overlap {
  const [left, right] = [conceptsOf(a), conceptsOf(b)];
  const sums = { shared: 0, onlyA: 0, onlyB: 0, rarestShared: 0, rarestUnshared: 0 };
  for (const concept of left) {
    const weight = rarity.of(concept);
    if (right.has(concept)) {
      sums.shared += weight;
      sums.rarestShared = Math.max(sums.rarestShared, weight);
    } else {
      sums.onlyA += weight;
      sums.rarestUnshared = Math.max(sums.rarestUnshared, weight);
    }
  }
  for (const concept of right) {
    if (left.has(concept)) continue;
    const weight = rarity.of(concept);
    sums.onlyB += weight;
    sums.rarestUnshared = Math.max(sums.rarestUnshared, weight);
  }
  return sums;
}

/** What a text speaks of, order and number apart. */
export function conceptsOf(terms: readonly Term[]): ReadonlySet<string> {
  return new Set(terms.map(({ concept }) => concept));
}

function isContent({ kind }: Term): boolean {
  return kind === 'word' || kind === 'verb';
}
