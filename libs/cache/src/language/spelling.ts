import { KNOWN_WORDS } from './known-words';

/** Shorter stems are too near to others. */
const LEAST_LENGTH = 6;

/**
 * Whether one stem is the other mistyped: a letter doubled, dropped or added inside, or two swapped. Only where exactly
 * one of them is a known word: two unknown ones may be two names. A letter replaced by another is no slip that can be
 * told from another word (nitrate, nitrite).
 */
export function isMistyped(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < LEAST_LENGTH || Math.abs(a.length - b.length) > 1) return false;
  if (a[0] !== b[0] || a[1] !== b[1]) return false;
  if (KNOWN_WORDS.has(a) === KNOWN_WORDS.has(b)) return false;
  return a.length === b.length ? isSwapped(a, b) : a.length < b.length ? isShortened(a, b) : isShortened(b, a);
}

function isSwapped(a: string, b: string): boolean {
  const at = firstDifference(a, b);
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

/** The last letter stays: endings change the meaning. */
function isShortened(short: string, long: string): boolean {
  const at = firstDifference(short, long);
  return at < short.length && short.slice(at) === long.slice(at + 1);
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
