import {
  partsOf,
  type Answer,
  type CacheTier,
  type Call,
  type Clock,
  type KeyedCall,
  type Next,
  type Stage,
} from '@spillway/contracts';
import type { CacheGenerations } from './cache-generations';
import { mayReadCanonical, refusalOfExact, mayWriteCanonical } from './cacheability';
import { replay, type CachedAnswer } from './cached-answer';
import { canonicalRequestKey } from './canonical-request-key';
import type { ExactStore } from './exact-store';
import { requestKey, type RequestIdentity } from './request-key';

/** The tiers of this stage: lookups by key. */
type KeyTier = Exclude<CacheTier, 'semantic'>;

/** Counts lookups. */
export interface CacheMeter {
  lookup(level: KeyTier, result: 'hit' | 'miss'): void;
}

/**
 * Answers a call that has been answered before, in these words or with other function words; else names the keys its
 * answer is kept under.
 */
export class ExactCacheStage implements Stage<Call, KeyedCall> {
  readonly name = 'exact-cache';

  constructor(
    private readonly store: ExactStore,
    private readonly generations: CacheGenerations,
    private readonly clock: Clock,
    private readonly meter?: CacheMeter,
  ) {}

  async handle(call: Call, next: Next<KeyedCall>): Promise<Answer> {
    const identity = this.identityOf(call);
    const why = refusalOfExact(call);
    if (why !== null) call.journal.note({ kind: 'cache', tier: 'exact', result: 'skipped', why });
    if (identity === null) return next({ cacheKey: null, canonicalKey: null, ...call });
    const cacheKey = requestKey(identity);
    if (why === null) {
      const kept = await this.lookup(call, 'exact', cacheKey);
      if (kept !== null) return this.hit(call, 'exact', kept);
    }
    // Only now: reading the text costs more than an exact hit may.
    const canonicalKey = canonicalKeyOf(call, identity);
    if (canonicalKey !== null && mayReadCanonical(call)) {
      const kept = await this.lookup(call, 'canonical', canonicalKey);
      if (kept !== null) return this.hit(call, 'canonical', kept);
    }
    return next({ cacheKey, canonicalKey, ...call });
  }

  private async lookup({ journal }: Call, tier: KeyTier, key: string): Promise<CachedAnswer | null> {
    const kept = await this.store.get(key);
    const result = kept === null ? 'miss' : 'hit';
    this.meter?.lookup(tier, result);
    journal.note({ kind: 'cache', tier, result, why: null });
    if (kept === null) journal.cache = 'MISS';
    return kept;
  }

  private identityOf({ operation, caller, controls, route, headers, body }: Call): RequestIdentity | null {
    if (operation !== 'chat') return null;
    return {
      namespace: caller.name,
      scope: controls.scope,
      route: route.name,
      generation: this.generations.current(route.name, controls.scope),
      beta: headers['openai-beta'],
      body,
    };
  }

  private hit({ journal }: Call, tier: KeyTier, kept: CachedAnswer): Answer {
    const now = this.clock.now();
    journal.cache = 'HIT';
    journal.cacheTier = tier;
    journal.ageS = Math.max(0, Math.floor((now - kept.madeAt) / 1000));
    journal.model = kept.model;
    journal.saved = kept.usage;
    journal.digest = kept.digest;
    return { outcome: 'cache-exact', parts: partsOf(replay(kept, now)) };
  }
}

function canonicalKeyOf(call: Call, identity: RequestIdentity): string | null {
  if (!mayReadCanonical(call) && !mayWriteCanonical(call)) return null;
  const { key, refusedBy } = canonicalRequestKey(identity, call.route.cache.rules);
  call.journal.cacheRule = refusedBy;
  if (refusedBy !== null) call.journal.note({ kind: 'cache', tier: 'canonical', result: 'skipped', why: refusedBy });
  return key;
}
