import { partsOf, type Answer, type CacheTier, type Call, type Outcome } from '@spillway/contracts';
import { replay, type CachedAnswer } from './cached-answer';

export interface HitFacts {
  readonly outcome: Extract<Outcome, 'cache-exact' | 'cache-semantic'>;
  readonly tier: CacheTier;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Answers a call with a kept answer, and notes what is known of that. */
export function hit({ journal }: Call, kept: CachedAnswer, { outcome, tier, now }: HitFacts): Answer {
  journal.cache = outcome === 'cache-semantic' ? 'SEMANTIC_HIT' : 'HIT';
  journal.cacheTier = tier;
  journal.madeAt = kept.madeAt;
  journal.model = kept.model;
  journal.saved = kept.usage;
  journal.digest = kept.digest;
  return { outcome, parts: partsOf(replay(kept, now)) };
}
