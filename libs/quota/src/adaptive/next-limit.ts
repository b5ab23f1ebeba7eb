import type { AdaptiveSettings } from './adaptive-settings';
import { callsIn, learned, meanOf, scaled, slownessOf, type Latencies } from './baselines';

/** Whether a model has an in-flight limit of its own making. */
export type Reach =
  /** Its latency has not suffered. `slow`: moves in a row at which it did. */
  | { readonly kind: 'open'; readonly slow: number }
  | {
      readonly kind: 'bound';
      readonly limit: number;
      /** The worst since latency was last fine: if a far smaller limit does not help, the cause is another. */
      readonly worst: { readonly limit: number; readonly slowness: number };
      /** Moves in a row at which it did not help. */
      readonly unmoved: number;
      /** When it was last needed, ms since the epoch. */
      readonly neededAt: number;
    };

/** What is known of the latency of one model, and the limit that follows from it; shared by all processes. */
export interface AdaptiveState {
  readonly reach: Reach;
  readonly baselines: Latencies;
  /** Latency over its baseline at the last move. */
  readonly slowness: number;
  /** Mean latency at the last move, ms: a new limit shows only after it. */
  readonly meanMs: number;
  /** The last move, ms since the epoch. */
  readonly at: number;
}

/** What was seen of a model since the last move. */
export interface AdaptiveSample {
  readonly at: number;
  readonly latencies: Latencies;
  /** Calls that failed: overload, timeout, 5xx. */
  readonly drops: number;
  /** The most calls at the same time, of all processes. */
  readonly inflight: number;
}

export function freshState(at: number): AdaptiveState {
  return { reach: { kind: 'open', slow: 0 }, baselines: {}, slowness: 1, meanMs: 0, at };
}

/** The state after a sample; the same one when it is too early or there are too few calls to move. */
export function nextLimit(state: AdaptiveState, sample: AdaptiveSample, settings: AdaptiveSettings): AdaptiveState {
  const calls = callsIn(sample.latencies);
  const elapsedMs = sample.at - state.at;
  if (elapsedMs < pauseMs(state, settings) || calls + sample.drops < settings.calls) return state;
  const slowness = slownessOf(sample.latencies, state.baselines, settings) ?? 1;
  const moved = { slowness, meanMs: calls > 0 ? meanOf(sample.latencies) : state.meanMs, at: sample.at };
  const drops = sample.drops > settings.dropRatio * (calls + sample.drops);
  const mayRise = state.reach.kind === 'open' ? slowness < settings.bindAt : !isUsed(state.reach.limit, sample);
  const baselines = learned(state.baselines, sample.latencies, slowness, { elapsedMs, mayRise }, settings);
  const seen: Seen = { slowness, drops, sample, trusted: callsIn(state.baselines) >= settings.baselineCalls };
  if (state.reach.kind === 'open') return { ...moved, baselines, reach: fromOpen(state.reach.slow, seen, settings) };
  const reach = fromBound(state.reach, seen, settings);
  if (reach.kind === 'open' || reach.unmoved < UNMOVED) return { ...moved, baselines, reach };
  return { ...moved, baselines: scaled(baselines, slowness), reach: { kind: 'open', slow: 0 } };
}

/** Moves at which a far smaller limit has to have failed before the slowness counts as the model's own. */
const UNMOVED = 3;
const SLOW_TWICE = 2;

interface Seen {
  readonly slowness: number;
  /** Whether more calls failed than is usual. */
  readonly drops: boolean;
  readonly sample: AdaptiveSample;
  /** Whether the baselines say anything. */
  readonly trusted: boolean;
}

type Bound = Extract<Reach, { kind: 'bound' }>;

function pauseMs({ meanMs }: AdaptiveState, { everyMs, longestMs }: AdaptiveSettings): number {
  return Math.min(Math.max(everyMs, meanMs), longestMs);
}

function isUsed(limit: number, { inflight }: AdaptiveSample): boolean {
  return inflight >= limit / 2;
}

function fromOpen(slowBefore: number, seen: Seen, settings: AdaptiveSettings): Reach {
  const { slowness, drops, sample } = seen;
  const { inflight, at } = sample;
  const suffers = seen.trusted && slowness > settings.bindAt;
  if (inflight < settings.bindFrom || !(suffers || drops)) return { kind: 'open', slow: 0 };
  const slow = slowBefore + 1;
  if (slow < SLOW_TWICE) return { kind: 'open', slow };
  const limit = suffers ? target(inflight, slowness, settings) : inflight * settings.dropFactor;
  const bounded = Math.max(limit, settings.least);
  return { kind: 'bound', limit: bounded, worst: { limit: inflight, slowness }, unmoved: 0, neededAt: at };
}

function fromBound(bound: Bound, seen: Seen, settings: AdaptiveSettings): Reach {
  const { slowness, drops, sample } = seen;
  const { limit } = bound;
  if (!isUsed(limit, sample)) {
    const needed = slowness > settings.bindAt || drops;
    if (!needed && sample.at - bound.neededAt > settings.liftMs) return { kind: 'open', slow: 0 };
    return needed ? { ...bound, neededAt: sample.at } : bound;
  }
  const step = settings.smoothing * (target(limit, slowness, settings) - limit);
  const next = Math.max(drops ? Math.min(limit + step, limit * settings.dropFactor) : limit + step, settings.least);
  if (next > Math.max(limit, settings.most)) return { kind: 'open', slow: 0 };
  const fine = slowness < FINE;
  const worst = fine || slowness > bound.worst.slowness ? { limit, slowness } : bound.worst;
  const unmoved = !fine && !drops && didNotHelp(limit, slowness, worst) ? bound.unmoved + 1 : 0;
  return { kind: 'bound', limit: next, worst, unmoved, neededAt: sample.at };
}

/** Where latency settles when a model is just full: the tolerance and the queue that is allowed. */
const FINE = 1.3;

/** Gradient2: less in proportion to the slowness, at most halved, and the queue that may always be there. */
function target(limit: number, slowness: number, { tolerance, queue }: AdaptiveSettings): number {
  const gradient = Math.max(0.5, Math.min(1, tolerance / slowness));
  return limit * gradient + queue * Math.sqrt(limit);
}

/** Of a model that is full, latency falls in proportion to the limit; here it fell by less than the root of that. */
function didNotHelp(limit: number, slowness: number, worst: Bound['worst']): boolean {
  return limit <= worst.limit / 2 && slowness >= worst.slowness * Math.sqrt(limit / worst.limit);
}
