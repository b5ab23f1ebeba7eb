/** BullMQ takes 1 (first) to 2^21 - 1; a job without a priority, or with 0, would overtake every other. */
const STEPS = 2 ** 21 - 1;
const STEP_MS = 100;

/**
 * The BullMQ priority of a wait that ends at `turnBy` (milliseconds since the epoch): the earlier, the smaller. The
 * scale starts again every 58 hours; for one longest wait around that moment jobs leave their queue out of order,
 * which changes nothing, because permits are granted in the order that `Permits` keeps.
 */
export function jobPriority(turnBy: number): number {
  return 1 + (Math.floor(turnBy / STEP_MS) % STEPS);
}
