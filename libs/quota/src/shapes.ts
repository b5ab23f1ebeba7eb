import { PRIORITIES } from '@spillway/contracts';
import type { GrowthSettings } from './limits';
import type { RingShape } from './ring';

const CLASSES = PRIORITIES.length;
const DAY_BUCKET_MS = 120_000;
/** Buckets of a period of growth. Each costs the ramp about half a thousandth of what it may grow by. */
export const GROWTH_BUCKETS = 960;
/** How much later than another call one may arrive, ms, where a bucket is shorter than that. */
export const GROWTH_SPARE_MS = 25;

/**
 * Calls and tokens of a minute by class. One bucket more than the minute, because a call may reach the provider up to
 * a quarter of a second later than one that was sent after it.
 */
export const MINUTE: RingShape = { width: 250, ages: [60_000 / 250 + 1], lanes: 2 * CLASSES };
/** Lanes of MINUTE from here on count tokens. */
export const TOKENS = CLASSES;

/** Tokens of a day by class. */
export const DAY: RingShape = { width: DAY_BUCKET_MS, ages: [86_400_000 / DAY_BUCKET_MS], lanes: CLASSES };

/**
 * Calls of the current period, and of both periods. Calls travel for different times, so the current period begins
 * earlier by what is spared, and the one before it is as much shorter on either side, its unfinished buckets left out:
 * the provider never has more of the current period than is counted here, nor less of the one before.
 */
export function growthShape({ per_s }: GrowthSettings): RingShape {
  const width = (per_s * 1000) / GROWTH_BUCKETS;
  const spare = Math.min(Math.max(1, Math.ceil(GROWTH_SPARE_MS / width)), GROWTH_BUCKETS / 4);
  return { width, ages: [GROWTH_BUCKETS + spare, 2 * GROWTH_BUCKETS - 1 - spare], lanes: 1 };
}
