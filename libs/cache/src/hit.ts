import {
  partsOf,
  type Answer,
  type AnswerPart,
  type CacheTier,
  type Call,
  type Journal,
  type Outcome,
} from '@spillway/contracts';
import { replay, type CachedAnswer } from './cached-answer';

export interface HitFacts {
  readonly outcome: Extract<Outcome, 'cache-exact' | 'cache-semantic'>;
  readonly tier: CacheTier;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Answers a call with a kept answer, and notes what is known of that. */
export function hit({ journal }: Call, kept: CachedAnswer, facts: HitFacts): Answer {
  return { outcome: facts.outcome, parts: partsOf(noteHit(journal, kept, facts)) };
}

/** The same for whoever holds no call. */
export function noteHit(journal: Journal, kept: CachedAnswer, { outcome, tier, now }: HitFacts): AnswerPart {
  journal.cache = outcome === 'cache-semantic' ? 'SEMANTIC_HIT' : 'HIT';
  journal.cacheTier = tier;
  journal.ageS = Math.max(0, Math.floor((now - kept.madeAt) / 1000));
  journal.model = kept.model;
  journal.saved = kept.usage;
  journal.digest = kept.digest;
  return replay(kept, now);
}
