import { COMMON_CHARACTERS, COMMON_WORDS } from './common-words';

/** Receives one feature of a text: its hash and how much it counts. */
export type FeatureVisitor = (feature: number, weight: number) => void;

/** Characters that are looked at. */
const LONGEST = 4000;

const COMMON_WORD_WEIGHT = 0.2;
const COMMON_CHARACTER_WEIGHT = 0.4;
const PAIR_WEIGHT = 0.5;
/** All 3- and 4-grams of a word together, before the root of their number. */
const PIECES_WEIGHT = 0.8;
/** Sequences of one, two and three Chinese characters. */
const CHARACTER_WEIGHTS = [1, 1, 0.4] as const;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 16777619;
/** Keep the kinds of features apart. */
const WORD_KIND = 0x5bd1e995;
const PIECE_KIND = 0x1234567;

const LETTER_OR_DIGIT = /[\p{L}\p{M}\p{N}]/u;

/** Visits the features of a text, whatever its case and the width of its characters. */
export function addFeatures(text: string, visit: FeatureVisitor): void {
  const plain = text.slice(0, LONGEST).normalize('NFKC').toLowerCase();
  let features = 0;
  let before: Word | null = null;
  for (let start = 0; start < plain.length;) {
    const isIn = isCjk(plain.charCodeAt(start)) ? isCjkAt : isWordAt;
    let end = start;
    while (end < plain.length && isIn(plain, end)) end++;
    if (end > start) {
      features++;
      if (isIn === isCjkAt) addCharacters(plain, start, end, visit);
      else before = addWord(plain.slice(start, end), before, visit);
    }
    start = Math.max(end, start + 1);
  }
  // Nothing but signs, such as emoji: as a whole it is still a text of its own.
  if (features === 0) visit(hashOf(plain.trim()), 1);
}

interface Word {
  readonly hash: number;
  readonly weight: number;
}

function addWord(word: string, before: Word | null, visit: FeatureVisitor): Word {
  const weight = COMMON_WORDS.has(word) ? COMMON_WORD_WEIGHT : 1;
  const hash = hashOf(stemOf(word));
  visit(hash ^ WORD_KIND, weight);
  if (before !== null) {
    visit((Math.imul(before.hash ^ hash, FNV_PRIME) + hash) | 0, PAIR_WEIGHT * Math.sqrt(weight * before.weight));
  }
  if (word.length > 2) addPieces(`^${word}$`, weight, visit);
  return { hash, weight };
}

/** Every 3- and 4-gram of a word with its ends marked. */
function addPieces(marked: string, wordWeight: number, visit: FeatureVisitor): void {
  const weight = (PIECES_WEIGHT * wordWeight) / Math.sqrt(2 * marked.length - 5);
  for (let start = 0; start + 3 <= marked.length; start++) {
    let hash = PIECE_KIND;
    for (let index = start; index < start + 3; index++) hash = step(hash, marked.charCodeAt(index));
    visit(hash, weight);
    if (start + 4 <= marked.length) visit(step(hash, marked.charCodeAt(start + 3)), weight);
  }
}

/** Every sequence of one to three characters; the weight of each is the mean of its characters' weights. */
function addCharacters(text: string, start: number, end: number, visit: FeatureVisitor): void {
  for (let first = start; first < end; first++) {
    let hash = FNV_OFFSET;
    let product = 1;
    for (let length = 1; length <= CHARACTER_WEIGHTS.length && first + length <= end; length++) {
      const character = text.charCodeAt(first + length - 1);
      hash = step(hash, character);
      if (COMMON_CHARACTERS.has(character)) product *= COMMON_CHARACTER_WEIGHT;
      visit(hash, (CHARACTER_WEIGHTS[length - 1] ?? 0) * Math.pow(product, 1 / length));
    }
  }
}

/** The word without its commonest English endings; its pieces still know them. */
function stemOf(word: string): string {
  if (word.length < 4) return word;
  if (word.length === 4) return /[^s]s$/.test(word) ? word.slice(0, 3) : word;
  const stem = word.replace(/(ies|ied)$/, 'y').replace(/(ing|edly|ed|es|s|ly|e)$/, '');
  if (stem.length < 3) return word;
  return /([bdgmnprt])\1$/.test(stem) ? stem.slice(0, -1) : stem;
}

function hashOf(text: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < text.length; index++) hash = step(hash, text.charCodeAt(index));
  return hash;
}

function step(hash: number, code: number): number {
  return Math.imul(hash ^ code, FNV_PRIME);
}

function isCjkAt(text: string, index: number): boolean {
  return isCjk(text.charCodeAt(index));
}

/** Han, kana and hangul, which are written without spaces or counted by the character. */
function isCjk(code: number): boolean {
  return (code >= 0x3400 && code <= 0x9fff) || (code >= 0x3040 && code <= 0x30ff) || (code >= 0xac00 && code <= 0xd7af);
}

function isWordAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code < 0x80) return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
  return !isCjk(code) && LETTER_OR_DIGIT.test(text.charAt(index));
}
