import type { MarkKind } from './lexicon';

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
  | 'unexplained';
