import { dangerOf, isExplained } from './dangers';
import { type Difference, differenceOf } from './difference';
import { doubtOf } from './doubts';
import type { GuardReason } from './guard-reason';
import { mayBeOneLanguage } from './latin-language';
import { normalise } from './normalise';
import { read, type Term } from './reading';
import { inOtherForms } from './sentence-forms';

/** `strict`: every difference must be explained · `balanced`: none may be dangerous · `off`: the score alone decides. */
export type GuardMode = 'strict' | 'balanced' | 'off';

export interface GuardVerdict {
  readonly serve: boolean;
  readonly reason: GuardReason;
}

const NONE: ReadonlySet<string> = new Set();

/** Names a pair of texts, in either order; typing makes no difference. */
export function pairKey(a: string, b: string): string {
  return [normalise(a), normalise(b)].sort().join('\n');
}

/**
 * Whether the answer to one question serves the other. `approved`: keys of pairs that were judged to; what differs in
 * polarity, quantity, role, scope, time, person or condition is not served for all that.
 */
export function guard(a: string, b: string, mode: GuardMode, approved: ReadonlySet<string> = NONE): GuardVerdict {
  if (mode === 'off') return { serve: true, reason: 'off' };
  if (a === b) return { serve: true, reason: 'same' };
  const [left, right] = [read(a), read(b)];
  const difference = differenceOf(left, right);
  const danger = dangerOf(difference);
  if (danger !== null) return { serve: false, reason: danger };
  if (isExplained(difference) || isOtherForm(left, right)) return { serve: true, reason: 'explained' };
  if (approved.size > 0 && approved.has(pairKey(a, b))) return { serve: true, reason: 'approved' };
  if (mode === 'strict') return { serve: false, reason: 'unexplained' };
  const doubt = mayBeOneLanguage(a, b) ? doubtOf(difference) : 'language';
  return doubt === null ? { serve: true, reason: 'harmless' } : { serve: false, reason: doubt };
}

/** Whether one of them is the other in another form of sentence. */
function isOtherForm(left: readonly Term[], right: readonly Term[]): boolean {
  const isSame = (difference: Difference): boolean => dangerOf(difference) === null && isExplained(difference);
  return (
    inOtherForms(left, right).some(form => isSame(differenceOf(form, right))) ||
    inOtherForms(right, left).some(form => isSame(differenceOf(left, form)))
  );
}
