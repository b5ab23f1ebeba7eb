import type { Difference } from './difference';
import { isSameSet, isSoftMark } from './dangers';
import type { GuardReason } from './guard-reason';
import { stem } from './english-stem';
import { isGeneral, isOtherForm } from './general-words';
import { isEqual, keyOf } from './order';
import type { Term } from './reading';

/** A difference that looks like another thing asked in the same words; null: it looks like other words. */
export function doubtOf(difference: Difference): GuardReason | null {
  const { onlyA, onlyB, a, b } = difference;
  if (haveOtherNames(onlyA, onlyB)) return 'entity';
  const [restA, restB] = [onlyA.filter(isContent), onlyB.filter(isContent)];
  const mark = [...onlyA, ...onlyB].some(isSoftMark) ? 'addition' : null;
  if (restA.length === 0 && restB.length === 0) return askDoubtOf(difference) ?? mark;
  const shared = Math.min(a.length - onlyA.length, b.length - onlyB.length);
  if (restA.length === 0 || restB.length === 0) {
    return shared > 0 && restA.length + restB.length <= MOST_ADDED ? 'addition' : mark;
  }
  if (shared === 0) return mark;
  if (isOneSlot(a, onlyA, b, onlyB) || isParallel(a, onlyA, b, onlyB)) {
    return isRephrased(restA, restB) || isOtherWording(restA, restB) ? 'wording' : 'entity';
  }
  return isRestated(difference) ? 'order' : mark;
}

const MOST_ADDED = 3;

/** Whom, when, how long and how many are asked for: answers to these never serve another question. */
const EXACT_ASKS: ReadonlySet<string> = new Set(
  'who whose when why must price available how-much how-many how-long how-often'.split(' '),
);

function askDoubtOf({ asksA, asksB }: Difference): GuardReason | null {
  if (isSameSet(asksA, asksB) || asksA.size * asksB.size === 0) return null;
  const differing = [...asksA].filter(ask => !asksB.has(ask)).concat([...asksB].filter(ask => !asksA.has(ask)));
  return differing.some(ask => EXACT_ASKS.has(ask)) ? 'question' : 'aspect';
}

function isContent({ kind }: Term): boolean {
  return kind === 'word' || kind === 'verb';
}

/** Both name something that the other does not: codes, or Latin names within Chinese. */
function haveOtherNames(onlyA: readonly Term[], onlyB: readonly Term[]): boolean {
  const hasHan = [...onlyA, ...onlyB].some(({ script }) => script === 'han');
  return hasHan && [onlyA, onlyB].every(only => only.some(({ script, kind }) => script === 'other' && kind === 'word'));
}

/** Whether one stretch of a text stands for one stretch of the other, all around it being the same. */
function isOneSlot(a: readonly Term[], onlyA: readonly Term[], b: readonly Term[], onlyB: readonly Term[]): boolean {
  const [left, right] = [a.map(keyOf), b.map(keyOf)];
  let head = 0;
  while (head < left.length && head < right.length && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < Math.min(left.length, right.length) - head && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  const [slotA, slotB] = [left.length - head - tail, right.length - head - tail];
  if (head + tail === 0) return false;
  return slotA - onlyA.length <= 1 && slotB - onlyB.length <= 1 && Math.max(slotA, slotB) <= MOST_IN_SLOT;
}

/** Names change places one for one; several words in the place of others are another way to say it. In English. */
function isRephrased(restA: readonly Term[], restB: readonly Term[]): boolean {
  return restA.length !== restB.length && [...restA, ...restB].every(({ script }) => script === 'other');
}

/** Whether all words that only one text holds are general ones, or forms of what the other one holds. */
function isOtherWording(restA: readonly Term[], restB: readonly Term[]): boolean {
  const isIn = (others: readonly Term[]) => (term: Term) => {
    const word = stem(term.surface);
    return isGeneral(word) || others.some(({ surface }) => isOtherForm(word, stem(surface)));
  };
  return restA.every(isIn(restB)) && restB.every(isIn(restA));
}

const MOST_IN_SLOT = 5;

/** Word for word the same, but for words that stand in the other's places. */
function isParallel(a: readonly Term[], onlyA: readonly Term[], b: readonly Term[], onlyB: readonly Term[]): boolean {
  if (a.length !== b.length || onlyA.length !== onlyB.length || onlyA.length * 2 > a.length) return false;
  return a.every((term, at) => keyOf(term) === keyOf(b[at] ?? term) || onlyA.includes(term));
}

/** From so many words on, a statement in nearly the same ones in another order says something else. */
const LEAST_IN_STATEMENT = 6;

function isRestated({ a, b, onlyA, onlyB, asksA, asksB }: Difference): boolean {
  if (asksA.size + asksB.size > 0 || a.length - onlyA.length < LEAST_IN_STATEMENT) return false;
  if (Math.max(onlyA.length / a.length, onlyB.length / b.length) > 0.3) return false;
  const [left, right] = [a.map(keyOf), b.map(keyOf)];
  const shared = new Set(left.filter(key => right.includes(key)));
  return !isEqual(
    left.filter(key => shared.has(key)),
    right.filter(key => shared.has(key)),
  );
}
