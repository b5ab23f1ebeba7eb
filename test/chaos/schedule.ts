import { seededRandom, type Random } from '../../apps/simulator/src/random';

export const REDIS_FAULTS = ['redis-frozen', 'redis-killed', 'redis-emptied', 'redis-full', 'redis-replica'] as const;
export const PROCESS_FAULTS = ['gateway-killed', 'gateway-frozen', 'worker-killed', 'worker-frozen'] as const;
export const MODEL_FAULTS = [
  'model-leaks',
  'model-slows',
  'model-does-not-load',
  'model-refuses',
  'model-resets',
] as const;
type FaultKind = (typeof REDIS_FAULTS | typeof PROCESS_FAULTS | typeof MODEL_FAULTS)[number];

/** One thing that goes wrong for a while. */
export interface ScheduledFault {
  readonly kind: FaultKind;
  /** Milliseconds after the start of the load. */
  readonly atMs: number;
  readonly forMs: number;
  /** Which of the gateways or models it strikes. */
  readonly target: 0 | 1;
}

/** How long something is broken, and then whole, before the next thing of its sort breaks. */
const BROKEN_MS = { redis: [800, 2_500], process: [700, 2_000], model: [1_500, 3_000] } as const;
const WHOLE_MS = { redis: [1_500, 3_000], process: [1_000, 2_500], model: [500, 1_500] } as const;

/**
 * What goes wrong in a run: the same for the same seed. Redis, processes and models fail independently of each other,
 * but one thing of each sort at a time; a sort comes again only when all of its faults have been.
 */
export function scheduleOf(seed: number, loadMs: number): readonly ScheduledFault[] {
  const random = seededRandom(seed);
  return [
    ...trackOf('redis', REDIS_FAULTS, random, loadMs),
    ...trackOf('process', PROCESS_FAULTS, random, loadMs),
    ...trackOf('model', MODEL_FAULTS, random, loadMs),
  ].toSorted((one, other) => one.atMs - other.atMs);
}

function trackOf(
  sort: keyof typeof BROKEN_MS,
  kinds: readonly FaultKind[],
  random: Random,
  loadMs: number,
): ScheduledFault[] {
  const faults: ScheduledFault[] = [];
  let left: FaultKind[] = [];
  for (let atMs = between(random, WHOLE_MS[sort]); atMs < loadMs;) {
    if (left.length === 0) left = shuffled(kinds, random);
    const [kind, ...rest] = left;
    left = rest;
    const fault = { atMs, forMs: between(random, BROKEN_MS[sort]), target: random() < 0.5 ? 0 : 1 } as const;
    if (kind === undefined || atMs + fault.forMs > loadMs) break;
    faults.push({ kind, ...fault });
    atMs += fault.forMs + between(random, WHOLE_MS[sort]);
  }
  return faults;
}

function between(random: Random, [least, most]: readonly [number, number]): number {
  return Math.round(least + random() * (most - least));
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map(item => ({ item, key: random() }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ item }) => item);
}
