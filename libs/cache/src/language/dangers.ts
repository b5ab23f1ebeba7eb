import { areOpposites } from './antonyms';
import type { Difference } from './difference';
import { stem } from './english-stem';
import { isEmphasis, isPraise } from './general-words';
import type { GuardReason } from './guard-reason';
import type { MarkKind } from './lexicon';
import { compareOrder, isSwapped, keyOf, type OrderVerdict } from './order';
import type { Term } from './reading';
import { isParticiple } from './word-forms';

/** What differs in a way that no similarity makes good; null: nothing. In order of cost. */
export function dangerOf(difference: Difference): GuardReason | null {
  const { onlyA, onlyB } = difference;
  if (difference.scriptA !== difference.scriptB) return 'language';
  return (
    markOf(onlyA, onlyB) ??
    (arePersonsApart(difference) ? 'person' : null) ??
    (haveOpposites(onlyA, onlyB) ? 'polarity' : null) ??
    (isRoleSwapped(difference) ? 'role' : null)
  );
}

/** Whether nothing is left that differs, but for praise, emphasis and prepositions that give nobody a role. */
export function isExplained(difference: Difference): boolean {
  const { a, b, onlyA, onlyB } = difference;
  const mayPraise = instructs(difference);
  if (![...onlyA, ...onlyB].every(term => isMinor(term) || (mayPraise && isPraised(term)))) return false;
  if (!mayExchange(difference)) return false;
  const [left, right] = [a.filter(term => !onlyA.includes(term)), b.filter(term => !onlyB.includes(term))];
  if (left.length * right.length === 0) return false;
  const rest = { ...difference, a: left, b: right };
  return isSameAsk(difference) && hasSamePersons(difference) && orderOf(rest) === 'same';
}

const MINOR_ROLES: ReadonlySet<string> = new Set(['in', 'on', 'at', 'for', 'with', 'about', 'via', 'as']);

const MEANS = ['with', 'via'];
const PLACES = ['in', 'on', 'at'];
/** Prepositions that may stand for each other: a limit on top-ups, a limit for top-ups; not for adults, about adults. */
const EXCHANGEABLE = [[...PLACES, 'for'], [...PLACES, 'about'], [...PLACES, 'via'], MEANS];

/**
 * Whether the prepositions that only one text holds are one way to say the other's. What a thing is done with is not
 * what it is done to, so that means cannot be left out, as others can: top up a card, top up with a card. After a deed
 * less is the same: made in Germany, made for Germany.
 */
function mayExchange({ a, onlyA, onlyB }: Difference): boolean {
  const [rolesA, rolesB] = [onlyA.filter(isRole), onlyB.filter(isRole)];
  const all = [...rolesA, ...rolesB];
  if (rolesA.length * rolesB.length === 0) return !all.some(({ concept }) => MEANS.includes(concept));
  const isOfDeed = rolesA.some(role => isParticiple(a[a.indexOf(role) - 1]?.surface ?? ''));
  const groups = isOfDeed ? [PLACES, MEANS] : EXCHANGEABLE;
  return groups.some(group => all.every(({ concept }) => group.includes(concept)));
}

function isRole({ kind }: Term): boolean {
  return kind === 'role';
}

/** Who asks how or where wants it good: a good score or a score is another matter. */
function isPraised({ kind, surface }: Term): boolean {
  return kind === 'word' && isPraise(stem(surface));
}

/** Of English: Chinese says by such words who does what. */
function isMinor({ kind, concept, script, surface }: Term): boolean {
  if (script === 'han') return false;
  return kind === 'role' ? MINOR_ROLES.has(concept) : kind === 'word' && isEmphasis(stem(surface));
}

/** Marks of these kinds must be in both texts or in none. */
const HARD_MARKS: readonly MarkKind[] = ['polarity', 'quantity', 'time', 'condition'];

/** What changes an answer by little where only one text holds it; two different ones are a danger like any other. */
const SOFT_MARKS: ReadonlySet<string> = new Set([
  'quantity:all',
  'quantity:many',
  'quantity:very',
  'quantity:too',
  'quantity:enough',
  'quantity:about',
  'quantity:more',
  'quantity:most',
  'quantity:first',
  'time:past',
  'time:daily',
  'time:during',
]);

export function isSoftMark(term: Term): boolean {
  return SOFT_MARKS.has(keyOf(term));
}

function markOf(onlyA: readonly Term[], onlyB: readonly Term[]): MarkKind | null {
  const isExchanged = onlyA.some(isSoftMark) && onlyB.some(isSoftMark);
  const isHard = (term: Term): boolean => isExchanged || !isSoftMark(term);
  for (const kind of HARD_MARKS) {
    if ([...onlyA, ...onlyB].some(term => term.kind === kind && isHard(term))) return kind;
  }
  return onlyA.some(isHardScope) || onlyB.some(isHardScope) ? 'scope' : null;
}

const HARD_SCOPES: ReadonlySet<string> = new Set(['only', 'even', 'other', 'same', 'including']);

function isHardScope({ kind, concept }: Term): boolean {
  return kind === 'scope' && HARD_SCOPES.has(concept);
}

/** Who stands for anybody where a question is about no one in particular. */
const ANYBODY: ReadonlySet<string> = new Set(['2', 'anyone']);

/** That only one text says you as well is a way of speaking: can you send me, can I get. */
function arePersonsApart({ personsA, personsB }: Difference): boolean {
  if (personsA.size === 0 || personsB.size === 0) return false;
  const [left, right] = [withoutYour(personsA), withoutYour(personsB)];
  const differing = [...left, ...right].filter(person => left.has(person) !== right.has(person));
  return differing.some(person => !ANYBODY.has(person));
}

function withoutYour(persons: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...persons].map(person => (person === 'your' ? '2' : person)));
}

/** What an answer may look like, which a question may leave open. */
const FORMS = ['explain', 'list'];

function isSameAsk({ asksA, asksB, scriptA }: Difference): boolean {
  const [a, b] = scriptA === 'han' ? [asksA, asksB] : [whatFor(asksA), whatFor(asksB)];
  const [leftForms, rightForms] = [a, b].map(asks => FORMS.filter(form => asks.has(form)).join());
  if (leftForms !== rightForms && leftForms !== '' && rightForms !== '') return false;
  return isSameSet(withoutForms(a), withoutForms(b));
}

/** Which ones are asked for, or what: the same in English, where nothing else is asked. */
function whatFor(asks: ReadonlySet<string>): ReadonlySet<string> {
  return asks.size === 1 && asks.has('which') ? new Set() : asks;
}

function withoutForms(asks: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...asks].filter(ask => !FORMS.includes(ask)));
}

/** Who asks how to do something asks it for anybody; what is ours is what they ask about. */
const IMPERSONAL: ReadonlySet<string> = new Set(['how', 'can', 'why', 'should', 'solve', 'where', 'to-do']);

function hasSamePersons({ a, asksA, asksB, personsA, personsB }: Difference): boolean {
  if (isSameSet(personsA, personsB)) return true;
  if (personsA.size + personsB.size > 1) return false;
  if (personsA.has('1') || personsB.has('1')) return [...asksA, ...asksB].some(ask => IMPERSONAL.has(ask));
  return a.length > 1 && (personsA.has('your') || personsB.has('your'));
}

function haveOpposites(onlyA: readonly Term[], onlyB: readonly Term[]): boolean {
  return onlyA.some(a => onlyB.some(b => areOpposites(a.concept, b.concept)));
}

function orderOf(difference: Difference): OrderVerdict {
  return compareOrder(difference.a, difference.b, instructs(difference));
}

/** Whether both ask how, or whether one can. */
function instructs({ asksA, asksB }: Difference): boolean {
  return [asksA, asksB].every(asks => ['how', 'can', 'solve', 'where', 'why'].some(ask => asks.has(ask)));
}

/** Two words that changed places around a third, in texts that hold the same or nearly so; I sue him, he sues me. */
function isRoleSwapped(difference: Difference): boolean {
  const { a, b, onlyA, onlyB, affectedA, affectedB } = difference;
  if (onlyA.length === 0 && onlyB.length === 0) {
    const order = orderOf(difference);
    return order === 'swapped' || (order === 'moved' && !isSameSet(affectedA, affectedB));
  }
  if (areRolesCrossed(a, b)) return true;
  return onlyA.length + onlyB.length <= 2 && isSwapped(a.map(keyOf), b.map(keyOf));
}

/** From A to B, from B to A: the same word after another preposition that says where to. */
function areRolesCrossed(a: readonly Term[], b: readonly Term[]): boolean {
  const [left, right] = [rolesOf(a), rolesOf(b)];
  for (const [word, role] of left) {
    const other = right.get(word);
    if (other !== undefined && other !== role) return true;
  }
  return false;
}

const DIRECTED: ReadonlySet<string> = new Set(['from', 'to', 'by', 'than', 'versus', 'without', 'against']);

function rolesOf(core: readonly Term[]): Map<string, string> {
  const roles = new Map<string, string>();
  core.forEach((term, index) => {
    const next = core[index + 1];
    if (next !== undefined && term.kind === 'role' && DIRECTED.has(term.concept)) roles.set(keyOf(next), term.concept);
  });
  return roles;
}

export function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every(value => b.has(value));
}
