import type { ModelSettings, Priority } from '@spillway/contracts';
import type { HealthState } from '@spillway/health';

/** The error rate from which CRITICAL calls, too, prefer another model to a degraded one. */
const CRITICAL_ERROR_RATE = 0.3;

/** What is known of a model when a call is planned. */
export interface Candidate {
  readonly model: ModelSettings;
  /** Null: nothing is known against it. */
  readonly state: HealthState | null;
  readonly paused: boolean;
  /** Of the calls in its window, 0 to 1. */
  readonly errorRate: number;
}

/** A chain as the health of its models leaves it. */
export interface Plan {
  /** Who may be called, in order of preference; empty: all are down or paused. */
  readonly models: readonly ModelSettings[];
  /** The least bad of those that are down, where nobody else is left; null: none, all are paused. */
  readonly lastResort: Candidate | null;
}

/**
 * Who of a chain should be called for a class: what is down or paused is left out, what is degraded comes after what is
 * not, but that CRITICAL keeps the best model while fewer than 30 % of its calls fail.
 */
export function planChain(candidates: readonly Candidate[], priority: Priority): Plan {
  const usable = candidates.filter(candidate => !candidate.paused && !isDown(candidate.state));
  if (usable.length === 0) return { models: [], lastResort: leastBad(candidates) };
  const isAvoided = ({ state, errorRate }: Candidate): boolean =>
    state?.kind === 'degraded' && (priority !== 'critical' || errorRate >= CRITICAL_ERROR_RATE);
  const preferred = usable.filter(candidate => !isAvoided(candidate));
  const avoided = usable.filter(isAvoided);
  return { models: [...preferred, ...avoided].map(({ model }) => model), lastResort: null };
}

/** Whether only a probe may call a model. */
function isDown(state: HealthState | null): boolean {
  return state?.kind === 'open' || (state?.kind === 'half-open' && state.good === 0);
}

/** First what may answer now and then, then what will be probed first. */
function leastBad(candidates: readonly Candidate[]): Candidate | null {
  const probeAt = ({ state }: Candidate): number => (state === null || state.kind === 'closed' ? 0 : state.probeAt);
  const [best = null] = candidates
    .filter(({ paused }) => !paused)
    .sort((one, other) => one.errorRate - other.errorRate || probeAt(one) - probeAt(other));
  return best;
}

/**
 * The chain of a class under high load: from the model it is shed to on. What stands before that is what needs relief.
 */
export function shedChain(chain: readonly ModelSettings[], to: ModelSettings): readonly ModelSettings[] {
  const position = chain.indexOf(to);
  return position === -1 ? [to] : chain.slice(position);
}
