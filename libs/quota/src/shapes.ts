import { PRIORITIES } from '@spillway/contracts';
import type { GrowthSettings } from './limits';
import type { RingShape } from './ring';

const CLASSES = PRIORITIES.length;
const DAY_BUCKET_MS = 120_000;
export const GROWTH_BUCKETS = 240;

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
 * Calls of the current period, and of both periods. The bucket in which the periods meet counts in the current one
 * only, and the one in which the earlier period begins in neither: the use before is never taken for more than it was.
 */
export function growthShape({ per_s }: GrowthSettings): RingShape {
  return { width: (per_s * 1000) / GROWTH_BUCKETS, ages: [GROWTH_BUCKETS, 2 * GROWTH_BUCKETS - 1], lanes: 1 };
}
