import type { Answer, AnswerPart, CacheTier, Call, Clock, Journal, KeyedCall, Next, Stage } from '@spillway/contracts';
import type { CacheIdentities } from './cache-identities';
import { answersSimilar, mayReadSimilar, mayWriteSimilar, refusalOfExact } from './cacheability';
import type { CachedAnswer } from './cached-answer';
import { canonicalRequestKey } from './canonical-request-key';
import type { ExactStore } from './exact-store';
import { hit, noteHit, type HitFacts } from './hit';
import { readQuestion } from './question';
import { requestKey, type RequestIdentity } from './request-key';

/** The tiers of this stage: lookups by key. */
type KeyTier = Exclude<CacheTier, 'semantic'>;

/** Counts lookups. */
export interface CacheMeter {
  lookup(level: KeyTier, result: 'hit' | 'miss'): void;
}

/** What other questions may find, and be found by. */
type Comparable = Required<Pick<KeyedCall, 'canonicalKey' | 'question'>>;

const INCOMPARABLE: Comparable = { canonicalKey: null, question: null };

/**
 * Answers a call that has been answered before, in these words or with other function words; else names the keys its
 * answer is kept under.
 */
export class ExactCacheStage implements Stage<Call, KeyedCall> {
  readonly name = 'exact-cache';

  constructor(
    private readonly store: ExactStore,
    private readonly identities: CacheIdentities,
    private readonly clock: Clock,
    private readonly meter?: CacheMeter,
  ) {}

  async handle(call: Call, next: Next<KeyedCall>): Promise<Answer> {
    const identity = this.identities.of(call);
    const why = refusalOfExact(call);
    if (why !== null) call.journal.note({ kind: 'cache', tier: 'exact', result: 'skipped', why });
    if (identity === null) return next({ cacheKey: null, canonicalKey: null, question: null, ...call });
    const cacheKey = requestKey(identity);
    if (why === null) {
      const kept = await this.lookup(call, 'exact', cacheKey);
      if (kept !== null) return this.exactHit(call, identity, cacheKey, kept);
    }
    // Only now: reading the text costs more than an exact hit may.
    const { canonicalKey, question } = comparable(call, identity);
    if (canonicalKey !== null && mayReadSimilar(call)) {
      const kept = await this.lookup(call, 'canonical', canonicalKey);
      if (kept !== null) return hit(call, kept, { outcome: 'cache-exact', tier: 'canonical', now: this.clock.now() });
    }
    return next({ cacheKey, canonicalKey, question, ...call });
  }

  private async lookup({ journal }: Call, tier: KeyTier, key: string): Promise<CachedAnswer | null> {
    const kept = await this.store.get(key);
    const result = kept === null ? 'miss' : 'hit';
    this.meter?.lookup(tier, result);
    journal.note({ kind: 'cache', tier, result, why: null });
    if (kept === null) journal.cache = 'MISS';
    return kept;
  }

  private exactHit(call: Call, identity: RequestIdentity, key: string, kept: CachedAnswer): Answer {
    // Without the body, which would live as long as this.
    const { route, scope, generation } = identity;
    const repeat = (journal: Journal): AnswerPart | null => {
      const known = this.identities.isCurrent({ route, scope, generation }) ? this.store.atHand(key) : null;
      if (known === null) return null;
      this.meter?.lookup('exact', 'hit');
      return noteHit(journal, known, this.exactFacts());
    };
    return Object.assign(hit(call, kept, this.exactFacts()), { repeat });
  }

  private exactFacts(): HitFacts {
    return { outcome: 'cache-exact', tier: 'exact', now: this.clock.now() };
  }
}

function comparable(call: Call, identity: RequestIdentity): Comparable {
  if (!mayReadSimilar(call) && !mayWriteSimilar(call)) return INCOMPARABLE;
  const { question, canonical, refusedBy } = readQuestion(identity, call.route.cache.rules);
  call.journal.cacheRule = refusedBy;
  if (refusedBy !== null) call.journal.note({ kind: 'cache', tier: 'canonical', result: 'skipped', why: refusedBy });
  if (question === null || canonical === null) return INCOMPARABLE;
  const canonicalKey = answersSimilar(call) ? canonicalRequestKey(identity, question.fingerprint, canonical) : null;
  return { canonicalKey, question };
}
