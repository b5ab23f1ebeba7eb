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

interface Skipped {
  readonly model: string;
  readonly why: 'paused' | 'open' | 'half-open' | 'degraded';
}

/** A chain as the health of its models leaves it. */
export interface Plan {
  /** Who was passed over or put behind others, and why. */
  readonly skipped: readonly Skipped[];
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
  const preferred: ModelSettings[] = [];
  const avoided: ModelSettings[] = [];
  const skipped: Skipped[] = [];
  for (const candidate of candidates) {
    const { model } = candidate;
    const why = whySkipped(candidate, priority);
    if (why === null) preferred.push(model);
    else skipped.push({ model: model.name, why });
    if (why === 'degraded') avoided.push(model);
  }
  const models = [...preferred, ...avoided];
  return { models, skipped, lastResort: models.length === 0 ? leastBad(candidates) : null };
}

function whySkipped({ state, paused, errorRate }: Candidate, priority: Priority): Skipped['why'] | null {
  if (paused) return 'paused';
  switch (state?.kind) {
    case undefined:
    case 'closed':
      return null;
    case 'degraded':
      return priority !== 'critical' || errorRate >= CRITICAL_ERROR_RATE ? 'degraded' : null;
    case 'open':
      return 'open';
    case 'half-open':
      return state.good === 0 ? 'half-open' : null;
    default:
      return state satisfies never;
  }
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
