import { partsOf, type Answer, type Call, type Clock, type Next, type Stage } from '@spillway/contracts';
import type { CacheGenerations } from './cache-generations';
import { mayReadExact } from './cacheability';
import { replay, type CachedAnswer } from './cached-answer';
import type { CachedCall } from './cached-call';
import type { ExactStore } from './exact-store';
import { requestKey } from './request-key';

/** Counts lookups. */
export interface CacheMeter {
  lookup(level: 'exact', result: 'hit' | 'miss'): void;
}

/** Answers a call that has been answered before; else names the key its answer is kept under. */
export class ExactCacheStage implements Stage<Call, CachedCall> {
  readonly name = 'exact-cache';

  constructor(
    private readonly store: ExactStore,
    private readonly generations: CacheGenerations,
    private readonly clock: Clock,
    private readonly meter?: CacheMeter,
  ) {}

  async handle(call: Call, next: Next<CachedCall>): Promise<Answer> {
    const cacheKey = this.keyOf(call);
    if (cacheKey === null || !mayReadExact(call)) {
      call.journal.cache = 'BYPASS';
      return next({ cacheKey, ...call });
    }
    const kept = await this.store.get(cacheKey);
    this.meter?.lookup('exact', kept === null ? 'miss' : 'hit');
    if (kept !== null) return this.hit(call, kept);
    call.journal.cache = 'MISS';
    return next({ cacheKey, ...call });
  }

  private keyOf({ operation, caller, controls, route, headers, body }: Call): string | null {
    if (operation !== 'chat') return null;
    return requestKey({
      namespace: caller.name,
      scope: controls.scope,
      route: route.name,
      generation: this.generations.current(route.name, controls.scope),
      beta: headers['openai-beta'],
      body,
    });
  }

  private hit({ journal }: Call, kept: CachedAnswer): Answer {
    const now = this.clock.now();
    journal.cache = 'HIT';
    journal.ageS = Math.max(0, Math.floor((now - kept.madeAt) / 1000));
    journal.model = kept.model;
    journal.saved = kept.usage;
    journal.digest = kept.digest;
    return { outcome: 'cache-exact', parts: partsOf(replay(kept, now)) };
  }
}
