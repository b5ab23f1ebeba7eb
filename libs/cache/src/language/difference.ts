import { keyOf } from './order';
import { DE, OF, type Term } from './reading';
import { isMistyped } from './spelling';

/** Two texts side by side: what both hold, and what only one does. */
export interface Difference {
  /** What carries meaning, in order, spelled alike where typing alone differs. */
  readonly a: readonly Term[];
  readonly b: readonly Term[];
  readonly onlyA: readonly Term[];
  readonly onlyB: readonly Term[];
  /** What is asked, the least telling word left out where there is another. */
  readonly asksA: ReadonlySet<string>;
  readonly asksB: ReadonlySet<string>;
  readonly scriptA: Term['script'];
  readonly scriptB: Term['script'];
  readonly personsA: ReadonlySet<string>;
  readonly personsB: ReadonlySet<string>;
  /** Persons to whom something is done: me, them. */
  readonly affectedA: ReadonlySet<string>;
  readonly affectedB: ReadonlySet<string>;
}

export function differenceOf(left: readonly Term[], right: readonly Term[]): Difference {
  const a = coreOf(left);
  const b = spelledAs(a, coreOf(right));
  return {
    a,
    b,
    onlyA: without(a, b),
    onlyB: without(b, a),
    asksA: asksOf(left),
    asksB: asksOf(right),
    scriptA: scriptOf(left),
    scriptB: scriptOf(right),
    personsA: personsOf(left),
    personsB: personsOf(right),
    affectedA: affectedOf(left),
    affectedB: affectedOf(right),
  };
}

/** Persons count by themselves, unless they might have changed places with another, or with who is asked for. */
function coreOf(terms: readonly Term[]): Term[] {
  const asksWho = terms.some(isWho);
  const manyPersons = asksWho || personsOf(terms).size > 1;
  const asksHowLong = terms.some(({ kind, concept }) => kind === 'ask' && concept === 'how-long');
  return terms.filter(({ kind, concept }) => {
    if (kind === 'person') return manyPersons;
    if (asksWho && isWho({ kind, concept })) return true;
    return kind !== 'ask' && !(asksHowLong && concept === 'take');
  });
}

/** In `how do you …` alone, you are anybody. */
function personsOf(terms: readonly Term[]): Set<string> {
  const persons = new Set(terms.filter(({ kind }) => kind === 'person').map(({ concept }) => concept));
  const [first, second] = terms;
  const isAnybody = first?.concept === 'how' && second?.concept === '2' && first.script === 'other';
  if (isAnybody && persons.size === 1) persons.clear();
  return persons;
}

function affectedOf(terms: readonly Term[]): Set<string> {
  const affected = terms.filter(({ kind, surface }) => kind === 'person' && /^(?:me|us|him|them)$/.test(surface));
  return new Set(affected.map(({ concept }) => concept));
}

function isWho({ kind, concept }: Pick<Term, 'kind' | 'concept'>): boolean {
  return kind === 'ask' && (concept === 'who' || concept === 'whose');
}

function scriptOf(terms: readonly Term[]): Term['script'] {
  return terms.some(({ script }) => script === 'han') ? 'han' : 'other';
}

/** Question words that others make superfluous. */
const WEAK_ASKS = ['what', 'whether', 'how-many', 'how-much'];
/** Beside these `what` is a part of what is asked: what can I return, can I return. */
const MODAL_ASKS = ['can', 'may', 'must', 'should'];

function asksOf(terms: readonly Term[]): Set<string> {
  const asks = new Set(terms.filter(({ kind }) => kind === 'ask').map(({ concept }) => concept));
  const isObject = MODAL_ASKS.some(modal => asks.has(modal));
  for (const weak of WEAK_ASKS) {
    if (weak === 'what' ? !isObject : asks.size > 1) asks.delete(weak);
  }
  return asks;
}

function spelledAs(a: readonly Term[], b: readonly Term[]): Term[] {
  const [onlyA, onlyB] = [without(a, b).filter(isPlainWord), without(b, a).filter(isPlainWord)];
  if (onlyA.length === 0 || onlyB.length === 0) return [...b];
  return b.map(term => {
    if (!onlyB.includes(term)) return term;
    const meant = onlyA.find(other => isMistyped(other.concept, term.concept));
    return meant === undefined ? term : { ...term, concept: meant.concept };
  });
}

function isPlainWord({ kind, script }: Term): boolean {
  return kind === 'word' && script === 'other';
}

function without(a: readonly Term[], b: readonly Term[]): Term[] {
  const left = new Map<string, number>();
  for (const term of b) left.set(keyOf(term), (left.get(keyOf(term)) ?? 0) + 1);
  return a.filter(term => {
    if (isGenitive(term)) return false;
    const count = left.get(keyOf(term)) ?? 0;
    left.set(keyOf(term), count - 1);
    return count <= 0;
  });
}

function isGenitive({ kind, concept }: Term): boolean {
  return kind === 'role' && (concept === OF || concept === DE);
}
