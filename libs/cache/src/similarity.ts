import type { RouteCacheSettings } from '@spillway/contracts';
import { guard, type GuardMode } from './language/guard';
import { isDoubt, type GuardReason } from './language/guard-reason';
import type { Embedder } from './vectors/embedder';
import type { Neighbour } from './vectors/vector-index';

/** What a question that was asked before must satisfy to be served for another. */
export interface SimilarityRules {
  readonly guard: GuardMode;
  /** Least score of what is served. */
  readonly least: number;
  /** Least score of what is looked at: below it nothing is even near. */
  readonly near: number;
  /** Whether the score knows what texts mean, so that it outvotes the guard where that only doubts. */
  readonly outvotesDoubts: boolean;
}

/** `score`: below the threshold, whatever the texts say. */
type SimilarityReason = GuardReason | 'score';

interface SimilarityVerdict {
  readonly serve: boolean;
  readonly reason: SimilarityReason;
}

type Calibration = Pick<Embedder, 'similarityThreshold' | 'candidateThreshold' | 'defaultGuard'>;

/**
 * The rules of a call. Under `strict` the guard decides, so that any candidate may be tried; the other guards need a
 * score that says something. A threshold of the route replaces that of the embedder; one of the request only raises.
 */
export function similarityRules(
  route: Pick<RouteCacheSettings, 'guard' | 'threshold'>,
  requested: number | null,
  embedder: Calibration,
): SimilarityRules {
  const mode = route.guard ?? embedder.defaultGuard;
  const usual = mode === 'strict' ? embedder.candidateThreshold : embedder.similarityThreshold;
  const least = Math.max(route.threshold ?? usual, requested ?? 0);
  return {
    guard: mode,
    least,
    near: Math.min(least, embedder.candidateThreshold),
    outvotesDoubts: mode === 'balanced' && embedder.defaultGuard === 'balanced',
  };
}

/** That scores know better than the guard what doubts are worth was measured for English alone. */
const HAN = /\p{Script=Han}/u;

/** Whether the answer to a neighbour serves a question, and why or why not. */
export function judge(text: string, neighbour: Neighbour, rules: SimilarityRules): SimilarityVerdict {
  if (neighbour.score < rules.least) return { serve: false, reason: 'score' };
  const verdict = guard(text, neighbour.text, rules.guard);
  const isOutvoted = rules.outvotesDoubts && isDoubt(verdict.reason) && !HAN.test(text);
  return isOutvoted ? { serve: true, reason: verdict.reason } : verdict;
}
