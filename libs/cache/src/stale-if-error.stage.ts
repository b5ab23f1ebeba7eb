import {
  allowsStandIn,
  type Answer,
  type Clock,
  type KeyedCall,
  type Next,
  type SpillwayError,
  type Stage,
} from '@spillway/contracts';
import { mayReadSimilar, refusalOfExact, staleMsOf } from './cacheability';
import type { ExactStore } from './exact-store';
import { hit } from './hit';

/** Counts how often an expired answer was wanted, and whether there was one. */
export interface StaleMeter {
  lookup(level: 'stale', result: 'hit' | 'miss'): void;
}

/** Answers with what it knew last, where nothing below can answer: a kept answer that has expired not too long ago. */
export class StaleIfErrorStage implements Stage<KeyedCall> {
  readonly name = 'stale-if-error';

  constructor(
    private readonly store: Pick<ExactStore, 'getStale'>,
    private readonly clock: Clock,
    private readonly meter?: StaleMeter,
  ) {}

  async handle(call: KeyedCall, next: Next<KeyedCall>): Promise<Answer> {
    try {
      return await next(call);
    } catch (error) {
      if (!allowsStandIn(error) || staleMsOf(call) === 0 || refusalOfExact(call) !== null) throw error;
      const answer = await this.lookup(call, error);
      this.meter?.lookup('stale', answer === null ? 'miss' : 'hit');
      if (answer === null) throw error;
      return answer;
    }
  }

  private async lookup(call: KeyedCall, error: SpillwayError): Promise<Answer | null> {
    const canonicalKey = mayReadSimilar(call) ? (call.canonicalKey ?? null) : null;
    for (const [tier, key] of [['exact', call.cacheKey] as const, ['canonical', canonicalKey] as const]) {
      const kept = key === null ? null : await this.store.getStale(key);
      if (kept === null) continue;
      call.journal.note({ kind: 'stale', tier, insteadOf: error.code });
      call.journal.degraded = 'stale';
      return hit(call, kept, { outcome: 'cache-exact', tier, now: this.clock.now() });
    }
    return null;
  }
}
