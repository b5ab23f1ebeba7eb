import { PRIORITIES } from '@spillway/contracts';
import type { GrowthSettings } from './limits';
import type { RingShape } from './ring';

const CLASSES = PRIORITIES.length;
const DAY_BUCKET_MS = 120_000;
/** Buckets of a period of growth. Each costs the ramp about half a thousandth of what it may grow by. */
export const GROWTH_BUCKETS = 960;
const MINUTE_BUCKET_MS = 250;

/**
 * Calls do not travel equally fast: how much later than one that was admitted after it a call may reach the provider,
 * ms. The message that hands out its permit, a pause of a process, a new connection: each takes some tens of
 * milliseconds now and then. Every window counts for so much longer than the provider's.
 */
export const TRAVEL_SPREAD_MS = 250;

/** Calls and tokens of a minute by class. */
export const MINUTE: RingShape = {
  width: MINUTE_BUCKET_MS,
  ages: [(60_000 + TRAVEL_SPREAD_MS) / MINUTE_BUCKET_MS],
  lanes: 2 * CLASSES,
};
/** Lanes of MINUTE from here on count tokens. */
export const TOKENS = CLASSES;

/** Tokens of a day by class; the bucket more is for the spread, though it is much longer. */
export const DAY: RingShape = { width: DAY_BUCKET_MS, ages: [86_400_000 / DAY_BUCKET_MS + 1], lanes: CLASSES };

/**
 * Calls of the current period, and of both periods, by class. The current period begins earlier by the spread of travel
 * (at most by a quarter), and the one before it is as much shorter on either side, its unfinished buckets left out: the
 * provider never has more of the current period than is counted here, nor less of the one before. With s the spread, that
 * makes a period grow by about (1 + `max_ratio`) × (1 - 3 s / `per_s`): of no weight in minutes, dear in a few seconds.
 */
export function growthShape({ per_s }: GrowthSettings): RingShape {
  const width = (per_s * 1000) / GROWTH_BUCKETS;
  const spare = Math.min(Math.ceil(TRAVEL_SPREAD_MS / width), GROWTH_BUCKETS / 4);
  return { width, ages: [GROWTH_BUCKETS + spare, 2 * GROWTH_BUCKETS - 1 - spare], lanes: CLASSES };
}
