import { runningMean } from './running-mean';

/** What is supposed before anything is known counts as much as this many calls. */
const SUPPOSED_CALLS = 20;

/** What a call of a model takes on average. */
export interface Pace {
  /** Calls that it knows of, with those that are supposed. */
  readonly calls: number;
  /** Input and output. */
  readonly tokens: number;
  readonly ms: number;
}

/** Rather short calls: few are under way then, and each is reserved more. */
export const SUPPOSED_PACE: Pace = { calls: SUPPOSED_CALLS, tokens: 800, ms: 1000 };

/** The averages after one more call. */
export function paceWith(before: Pace, { tokens, ms }: Omit<Pace, 'calls'>): Pace {
  const calls = before.calls + 1;
  return { calls, tokens: runningMean(before.tokens, tokens, calls), ms: runningMean(before.ms, ms, calls) };
}

/** How many calls are under way while so many tokens a minute are used, at least 1 (Little's law). */
export function underWayAt(tokensPerMinute: number, { tokens, ms }: Pace): number {
  return Math.max(1, ((tokensPerMinute / tokens) * ms) / 60_000);
}
