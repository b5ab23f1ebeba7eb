/** What carries meaning that no two texts may differ in. */
export type MarkKind = 'polarity' | 'quantity' | 'role' | 'scope' | 'time' | 'person' | 'condition';

/**
 * `drop`: politeness and function words · `opening`: the same, at the begin of a sentence only · `ask`: what kind of answer is wanted · `verb`: a word that may stand before or
 * after its object.
 */
export type TermKind = 'drop' | 'opening' | 'ask' | 'word' | 'verb' | MarkKind;

export interface Entry {
  readonly kind: TermKind;
  /** The same for all words and phrases that mean the same. */
  readonly concept: string;
}

/** Phrases of one kind, by concept; alternatives are written `what (is|are) the`, an empty one `(the|)`. */
export type Vocabulary = Readonly<Partial<Record<TermKind, Readonly<Record<string, string>>>>>;

interface Node {
  readonly next: Map<string, Node>;
  entry: Entry | null;
}

/** Finds the longest phrase that begins at a place. */
export class Lexicon {
  private readonly root = emptyNode();

  constructor(
    vocabulary: Vocabulary,
    /** A phrase as the units that texts are read in. */
    private readonly units: (phrase: string) => readonly string[],
  ) {
    for (const [kind, concepts] of Object.entries(vocabulary)) {
      for (const [concept, phrases] of Object.entries(concepts)) {
        for (const phrase of phrasesOf(phrases)) this.add(phrase, { kind: kind as TermKind, concept });
      }
    }
  }

  /** `opens`: a sentence begins here. */
  match(units: readonly string[], start: number, opens: boolean): Match | null {
    let longest: Match | null = null;
    let node: Node | undefined = this.root;
    for (let at = start; at < units.length; at++) {
      node = node.next.get(units[at] ?? '');
      if (node === undefined) break;
      const { entry } = node;
      if (entry !== null && (opens || entry.kind !== 'opening')) longest = { entry, length: at - start + 1 };
    }
    return longest;
  }

  private add(phrase: string, entry: Entry): void {
    let node = this.root;
    for (const unit of this.units(phrase)) {
      const next = node.next.get(unit) ?? emptyNode();
      node.next.set(unit, next);
      node = next;
    }
    // The first to name a phrase wins: lists of special things stand before general ones.
    node.entry ??= entry;
  }
}

interface Match {
  readonly entry: Entry;
  /** In units. */
  readonly length: number;
}

function emptyNode(): Node {
  return { next: new Map(), entry: null };
}

function phrasesOf(list: string): string[] {
  return list
    .split(',')
    .flatMap(phrase => alternativesOf(phrase))
    .map(phrase => phrase.replace(/\s+/g, ' ').trim())
    .filter(phrase => phrase !== '');
}

function alternativesOf(phrase: string): string[] {
  const [whole, before = '', choices = '', after = ''] = /^([^(]*)\(([^)]*)\)(.*)$/s.exec(phrase) ?? [];
  if (whole === undefined) return [phrase];
  return choices.split('|').flatMap(choice => alternativesOf(`${before}${choice}${after}`));
}
