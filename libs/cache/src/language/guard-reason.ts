import type { MarkKind } from './lexicon';

/** What looks like another question to one who knows words alone: a score that knows meaning may say otherwise. */
const DOUBTS = ['addition', 'aspect', 'wording', 'order'] as const;
type Doubt = (typeof DOUBTS)[number];

/** Why a kept answer serves another question, or does not. */
export type GuardReason =
  | 'off'
  | 'same'
  | 'explained'
  | 'approved'
  | 'harmless'
  | MarkKind
  | 'language'
  | 'question'
  | 'entity'
  | Doubt
  | 'unexplained';

export function isDoubt(reason: GuardReason): boolean {
  return (DOUBTS as readonly GuardReason[]).includes(reason);
}
