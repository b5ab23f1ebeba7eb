import type { Answer, Call, Clock, KeyedCall, Next, Question, Resemblance, Stage } from '@spillway/contracts';
import { answersSimilar, mayReadSimilar } from './cacheability';
import type { CachedAnswer } from './cached-answer';
import type { ExactStore } from './exact-store';
import { hit } from './hit';
import type { SimilarQuestions } from './similar-questions';
import { judge } from './similarity';
import type { ReuseDesk } from './trust/reuse-desk';
import type { Neighbour } from './vectors/vector-index';

/** Counts lookups; `shadow`: what would have been a hit. */
export interface SemanticMeter {
  lookup(level: 'semantic', result: 'hit' | 'miss' | 'shadow'): void;
}

interface Comparison {
  /** Null where nothing serves. */
  readonly kept: CachedAnswer | null;
  /** Handed on, so that a text is embedded once. */
  readonly vector: Float32Array | null;
}

/**
 * Answers a call with the answer to a question that asks the same in other words. Candidates are tried from the nearest
 * on; one that is refused, or whose answer is gone, lets the next one try. What the guard refuses may still be served
 * where experience is sure.
 */
export class SemanticCacheStage implements Stage<KeyedCall> {
  readonly name = 'semantic-cache';

  constructor(
    private readonly questions: Pick<SimilarQuestions, 'near'>,
    private readonly store: ExactStore,
    private readonly reuse: ReuseDesk,
    private readonly clock: Clock,
    private readonly meter?: SemanticMeter,
  ) {}

  async handle(call: KeyedCall, next: Next<KeyedCall>): Promise<Answer> {
    const { question = null } = call;
    if (question === null || !mayReadSimilar(call)) return next(call);
    const { kept, vector } = await this.compare(call, question);
    const result = kept === null ? 'miss' : answersSimilar(call) ? 'hit' : 'shadow';
    this.meter?.lookup('semantic', result);
    call.journal.note({ kind: 'cache', tier: 'semantic', result, why: null });
    if (kept !== null && result === 'hit') {
      return hit(call, kept, { outcome: 'cache-semantic', tier: 'semantic', now: this.clock.now() });
    }
    return next({ vector, ...call });
  }

  private async compare(call: KeyedCall, question: Question): Promise<Comparison> {
    const found = await this.questions.near(call, question);
    if (found === null) return { kept: null, vector: null };
    const { vector, rules, near } = found;
    for (const neighbour of near.neighbours) {
      const { serve, reason } = judge(question.text, neighbour, rules);
      const isTrusted = serve && this.reuse.trustsGuard(call.route.name);
      const kept = await this.tried(call, neighbour, isTrusted, serve && !isTrusted ? 'distrusted' : reason);
      if (kept !== null) {
        this.reuse.reused(call, near, neighbour, null);
        return { kept, vector };
      }
    }
    const weighed = this.reuse.weigh(call, near);
    for (const likely of weighed.filter(one => rules.guard !== 'off' && this.reuse.isSure(call, one))) {
      const kept = await this.tried(call, likely.candidate, true, 'learned');
      if (kept !== null) {
        this.reuse.reused(call, near, likely.candidate, likely);
        return { kept, vector };
      }
    }
    this.reuse.missed(call, near, weighed);
    return { kept: null, vector };
  }

  private async tried(
    call: KeyedCall,
    { id, score }: Neighbour,
    serve: boolean,
    reason: string,
  ): Promise<CachedAnswer | null> {
    const kept = serve ? await this.store.get(id) : null;
    const fate = !serve ? 'refused' : kept === null ? 'gone' : answersSimilar(call) ? 'served' : 'shadow';
    note(call, { score, reason, fate });
    return kept;
  }
}

/** Of those that do not serve the nearest is remembered. */
function note({ journal }: Call, resemblance: Resemblance): void {
  journal.note({ kind: 'candidate', ...resemblance });
  const serves = resemblance.fate === 'served' || resemblance.fate === 'shadow';
  if (serves || journal.resemblance === null) journal.resemblance = resemblance;
}
