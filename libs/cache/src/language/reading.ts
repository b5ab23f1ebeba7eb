import { LRUCache } from 'lru-cache';
import { chineseLexicon } from './chinese-lexicon';
import { englishLexicon } from './english-lexicon';
import { stem } from './english-stem';
import type { Entry, Lexicon, TermKind } from './lexicon';
import { normalise } from './normalise';

/** A word or phrase of a text, as far as it means something. */
export interface Term {
  readonly kind: Exclude<TermKind, 'drop' | 'opening'>;
  /** The same for all words that mean the same. */
  readonly concept: string;
  /** As it was written, normalised. */
  readonly surface: string;
  /** Whether something that joins nothing stands before it: the begin, a question word, a comma. */
  readonly breaks: boolean;
  readonly script: 'han' | 'other';
}

const TOKEN =
  /--?[a-z][\w-]*|\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}_])+(?:[-.:/@'#]+(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}_])+)*(?:[+#]{1,2}|%)?|[+*=<>^&|~%]|[-/](?= ?\d)|[,.;:!?()"\n]/gu;
const HAN = /^\p{Script=Han}/u;
const BREAK = /^[,.;:!?()"\n]$/;
const OPERATOR = /^[-+*/=<>^&|~%]$/;

/** A question is compared with several, and the same ones are kept for long: characters of texts, some 4,000 questions. */
const recent = new LRUCache<string, readonly Term[]>({
  maxSize: 200_000,
  sizeCalculation: (_, text) => text.length + 1,
});

/** Reads a text: what it asks, and the words that carry its meaning, in order. */
export function read(text: string): readonly Term[] {
  const known = recent.get(text);
  if (known !== undefined) return known;
  const terms = readAnew(text);
  recent.set(text, terms);
  return terms;
}

function readAnew(text: string): readonly Term[] {
  const reader = new Reader();
  const tokens = normalise(text).match(TOKEN) ?? [];
  let words: string[] = [];
  const flush = (): void => {
    if (words.length > 0) reader.english(words);
    words = [];
  };
  for (const token of tokens) {
    if (HAN.test(token)) {
      flush();
      reader.chinese(Array.from(token));
    } else if (BREAK.test(token)) {
      flush();
      reader.pause();
    } else {
      words.push(...partsOf(token));
    }
  }
  flush();
  return reader.terms;
}

/** `same-day` is two words, `WT-44219` and `--max-cost` are one. */
function partsOf(token: string): string[] {
  return /\d|^-|@/.test(token) ? [token] : token.split(/[-/:']/).filter(part => part !== '');
}

class Reader {
  readonly terms: Term[] = [];
  private breaks = true;

  pause(): void {
    this.breaks = true;
  }

  english(words: readonly string[]): void {
    const stems = words.map(stem);
    this.scan(englishLexicon, stems, words, 'other');
  }

  chinese(characters: readonly string[]): void {
    this.scan(chineseLexicon, characters, characters, 'han');
  }

  private scan(lexicon: Lexicon, units: readonly string[], surfaces: readonly string[], script: Term['script']): void {
    for (let at = 0; at < units.length;) {
      const unit = units[at] ?? '';
      const match = lexicon.match(units, at, this.breaks);
      const length = match?.length ?? 1;
      const surface = surfaces.slice(at, at + length).join(script === 'han' ? '' : ' ');
      if (match === null) this.add(kindOf(unit), unit, surface, script);
      else this.take(match.entry, surface, script);
      at += length;
    }
  }

  private take({ kind, concept }: Entry, surface: string, script: Term['script']): void {
    if (kind === 'drop' || kind === 'opening') this.dropped(surface);
    else this.add(kind, concept, surface, script);
  }

  private add(kind: Term['kind'], concept: string, surface: string, script: Term['script']): void {
    this.terms.push({ kind, concept, surface, breaks: this.breaks, script });
    this.breaks = kind === 'ask';
  }

  /** Asking by word order: is it …, does it …; and the genitive, whose order the comparison turns. */
  private dropped(surface: string): void {
    if (this.terms.length === 0 && WHETHER.test(surface)) this.add('ask', 'whether', surface, 'other');
    else if (surface === 'of') this.add('role', OF, surface, 'other');
    else if (surface === '的') this.add('role', DE, surface, 'han');
  }
}

const WHETHER = /^(?:is|are|am|do|does)$/;

/** Joins `A of B`; means what `B A` means. */
export const OF = 'of';
/** Joins `A的B`; may be left out, but turns nothing. */
export const DE = '的';

function kindOf(unit: string): Term['kind'] {
  return /\d/.test(unit) || unit.startsWith('-') || OPERATOR.test(unit) ? 'quantity' : 'word';
}
