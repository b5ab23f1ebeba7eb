import { DE, OF, type Term } from './reading';

/** The core of a text as concepts, with what the comparison of orders must know of each. */
export type Core = readonly Term[];

/**
 * `same`: the order says the same · `moved`: parts stand elsewhere, and nothing shows that one changed its role with
 * another · `swapped`: two parts changed places around a third.
 */
export type OrderVerdict = 'same' | 'moved' | 'swapped';

/** Compares the order of two cores of the same concepts. `instructs`: both ask how, or whether one can. */
export function compareOrder(a: Core, b: Core, instructs: boolean): OrderVerdict {
  const left = keysOf(turned(a));
  const right = keysOf(turned(b));
  if (isEqual(left, right) || isEqual(keysOf(plain(a)), keysOf(plain(b)))) return 'same';
  if (isEqual(chunksOf(turned(a)), chunksOf(turned(b)))) return 'same';
  if (instructs && isVerbMoved(a, b)) return 'same';
  if (areConjunctsSwapped(plain(a), keysOf(plain(b)))) return 'same';
  return isSwapped(keysOf(a), keysOf(b)) ? 'swapped' : 'moved';
}

/** `A of B` as `B A`. */
function turned(core: Core): Term[] {
  const result: Term[] = [];
  for (let at = 0; at < core.length; at++) {
    const term = core[at];
    if (term === undefined) break;
    const owner = core[at + 1];
    if (term.concept === OF && term.kind === 'role') {
      const owned = result.at(-1);
      if (owner !== undefined && owned !== undefined && !owner.breaks) {
        result.splice(-1, 1, owner, owned);
        at++;
      }
      continue;
    }
    if (term.concept !== DE || term.kind !== 'role') result.push(term);
  }
  return result;
}

function plain(core: Core): Term[] {
  return core.filter(({ kind, concept }) => kind !== 'role' || (concept !== OF && concept !== DE));
}

function keysOf(core: Core): string[] {
  return core.map(keyOf);
}

export function keyOf({ kind, concept }: Term): string {
  return kind === 'word' || kind === 'verb' ? concept : `${kind}:${concept}`;
}

/** What begins with a preposition may stand anywhere; what does not keeps its order. */
const BEGINS_CHUNK = new Set([
  'in',
  'on',
  'at',
  'for',
  'with',
  'from',
  'to',
  'by',
  'via',
  'about',
  'during',
  'after',
  'before',
  'without',
]);

function chunksOf(core: Core): string[] {
  const bare: string[] = [];
  const chunks: string[][] = [];
  let current = bare;
  for (const term of core) {
    if (term.breaks) current = bare;
    if (term.script === 'other' && BEGINS_CHUNK.has(term.concept) && term.kind !== 'word') {
      current = [];
      chunks.push(current);
    }
    current.push(keyOf(term));
  }
  return [bare.join(' '), ...chunks.map(chunk => chunk.join(' ')).sort()];
}

const MAY_ACT =
  /[人者家师生友猫狗虫播手长工户方们团司队]$|员工$|^(?:父亲|母亲|妻子|丈夫|客户|老人|小孩|女性|男性|客服|医生|老板|卖家|买家)$/;

/** 怎么取消订单, 订单怎么取消: one verb moves, and nothing that could act by itself is there. */
function isVerbMoved(a: Core, b: Core): boolean {
  const left = plain(a);
  const right = keysOf(plain(b));
  if (left.some(({ script, kind, concept }) => script === 'han' && (kind === 'role' || MAY_ACT.test(concept))))
    return false;
  return left.some(({ kind, concept }, at) => {
    if (kind !== 'verb') return false;
    const there = right.indexOf(concept);
    return isEqual(keysOf(left.toSpliced(at, 1)), right.toSpliced(there, 1));
  });
}

const MOST_IN_CONJUNCT = 3;
const CONJUNCTION = /^(?:and|or|和|与|及|以及|或|或者|还是)$/;

/**
 * Whether the texts differ only in which of two things that are joined comes first: tea and coffee, coffee and tea.
 * Persons and those who act may owe or give each other something, so that they stay where they are.
 */
function areConjunctsSwapped(a: Core, right: readonly string[]): boolean {
  if (a.some(({ kind, concept }) => kind === 'person' || MAY_ACT.test(concept))) return false;
  return a.some((term, at) => {
    if (term.kind !== 'role' || !CONJUNCTION.test(term.surface)) return false;
    const left = keysOf(a);
    for (let before = 1; before <= Math.min(MOST_IN_CONJUNCT, at); before++) {
      for (let after = 1; after <= Math.min(MOST_IN_CONJUNCT, left.length - 1 - at); after++) {
        const [first, second] = [left.slice(at - before, at), left.slice(at + 1, at + 1 + after)];
        const head = left.slice(0, at - before);
        const swapped = [...head, ...second, left[at] ?? '', ...first, ...left.slice(at + 1 + after)];
        if (isEqual(swapped, right)) return true;
      }
    }
    return false;
  });
}

/** Whether three parts that both texts hold stand in reverse: A x B, B x A. */
export function isSwapped(left: readonly string[], right: readonly string[]): boolean {
  const seen = new Map<string, number>();
  const places: number[] = [];
  for (const key of left) {
    const place = right.indexOf(key, seen.get(key) ?? 0);
    if (place < 0) continue;
    seen.set(key, place + 1);
    places.push(place);
  }
  return longestDescent(places) >= 3;
}

function longestDescent(places: readonly number[]): number {
  const lengths: number[] = [];
  places.forEach((place, index) => {
    const before = lengths.slice(0, index).filter((_, earlier) => (places[earlier] ?? 0) > place);
    lengths.push(1 + Math.max(0, ...before));
  });
  return Math.max(0, ...lengths);
}

export function isEqual(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((key, index) => key === right[index]);
}
