import type { Figures } from './figures';
import type { Sample } from './samples';

/** Parts of the run over which rates are taken. */
const SPANS = 24;
const NEARLY = 0.9;

/**
 * How much of a capacity (calls a second) the provider took in the last third of a run, and the part of the run after
 * which it first took 90 % of it; null without a capacity, or never.
 */
export function reachFigures(samples: readonly Sample[], endMs: number, capacity: number): Figures {
  if (capacity === 0) return {};
  const taken = (ms: number): number => {
    const sample = samples.findLast(one => one.ms <= ms);
    return Object.values(sample?.provider ?? {}).reduce((sum, { accepted }) => sum + accepted, 0);
  };
  const share = (from: number, until: number): number =>
    ((taken(until) - taken(from)) * 1000) / (until - from) / capacity;
  const span = endMs / SPANS;
  const reached = Array.from({ length: SPANS }, (_, index) => index).find(
    index => share(index * span, (index + 1) * span) >= NEARLY,
  );
  return {
    'reach.of_capacity': share((2 * endMs) / 3, endMs),
    'reach.time_to_90': reached === undefined ? null : (reached + 1) / SPANS,
  };
}
