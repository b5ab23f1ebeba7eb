import type {
  Answer,
  AnswerPart,
  CacheRule,
  CacheTier,
  Call,
  Clock,
  KeyedCall,
  Next,
  Stage,
} from '@spillway/contracts';
import type { CacheIdentities } from './cache-identities';
import { answersSimilar, mayReadSimilar, mayWriteSimilar, refusalOfExact } from './cacheability';
import { replay, type CachedAnswer } from './cached-answer';
import { canonicalRequestKey } from './canonical-request-key';
import type { ExactStore } from './exact-store';
import { hit, type HitFacts } from './hit';
import { readQuestion } from './question';
import { requestKey, type RequestIdentity } from './request-key';

/** The tiers of this stage: lookups by key. */
type KeyTier = Exclude<CacheTier, 'semantic'>;

/** Counts lookups. */
export interface CacheMeter {
  lookup(level: KeyTier, result: 'hit' | 'miss'): void;
}

/** What other questions may find, and be found by. */
interface Comparable extends Required<Pick<KeyedCall, 'canonicalKey' | 'question'>> {
  /** The rule that keeps the call from being compared. */
  readonly refusedBy: CacheRule | null;
}

const INCOMPARABLE: Comparable = { canonicalKey: null, question: null, refusedBy: null };

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
    const atHand = why === null ? this.store.atHand(cacheKey) : null;
    if (atHand !== null) return this.exactHit(call, identity, cacheKey, this.noteLookup(call, 'exact', atHand));
    // Both keys are asked for together, and the text is read meanwhile: that costs more than a hit at hand may.
    const exact = why === null ? this.store.get(cacheKey) : null;
    const { canonicalKey, question, refusedBy } = comparable(call, identity);
    const canonical = canonicalKey !== null && mayReadSimilar(call) ? this.store.get(canonicalKey) : null;
    if (exact !== null) {
      const kept = this.noteLookup(call, 'exact', await exact);
      if (kept !== null) return this.exactHit(call, identity, cacheKey, kept);
    }
    noteRule(call, refusedBy);
    if (canonical !== null) {
      const kept = this.noteLookup(call, 'canonical', await canonical);
      if (kept !== null) return hit(call, kept, { outcome: 'cache-exact', tier: 'canonical', now: this.clock.now() });
    }
    return next({ cacheKey, canonicalKey, question, ...call });
  }

  private noteLookup<Kept extends CachedAnswer | null>({ journal }: Call, tier: KeyTier, kept: Kept): Kept {
    const result = kept === null ? 'miss' : 'hit';
    this.meter?.lookup(tier, result);
    journal.note({ kind: 'cache', tier, result, why: null });
    if (kept === null) journal.cache = 'MISS';
    return kept;
  }

  private exactHit(call: Call, identity: RequestIdentity, key: string, kept: CachedAnswer): Answer {
    // Without the body and the answer, which would live as long as this.
    const { route, scope, generation } = identity;
    const { madeAt, digest } = kept;
    const repeat = (now: number): AnswerPart | null => {
      const known = this.identities.isCurrent({ route, scope, generation }) ? this.store.atHand(key) : null;
      if (known?.madeAt !== madeAt || known.digest !== digest) return null;
      this.meter?.lookup('exact', 'hit');
      return replay(known, now);
    };
    const facts: HitFacts = { outcome: 'cache-exact', tier: 'exact', now: this.clock.now() };
    return Object.assign(hit(call, kept, facts), { repeat });
  }
}

function comparable(call: Call, identity: RequestIdentity): Comparable {
  if (!mayReadSimilar(call) && !mayWriteSimilar(call)) return INCOMPARABLE;
  const { question, canonical, refusedBy } = readQuestion(identity, call.route.cache.rules);
  if (question === null || canonical === null) return { ...INCOMPARABLE, refusedBy };
  const canonicalKey = answersSimilar(call) ? canonicalRequestKey(identity, question.fingerprint, canonical) : null;
  return { canonicalKey, question, refusedBy };
}

function noteRule({ journal }: Call, rule: CacheRule | null): void {
  if (rule === null) return;
  journal.cacheRule = rule;
  journal.note({ kind: 'cache', tier: 'canonical', result: 'skipped', why: rule });
}
