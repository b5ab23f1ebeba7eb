import { setTimeout as sleep } from 'node:timers/promises';

/** Something that happens at a time, whatever happened before. */
interface Timed {
  /** Milliseconds after the start. */
  readonly ms: number;
}

/**
 * Starts each item at its time and never waits for one before the next (an open loop); resolves when the last has
 * ended. `run` learns the moment for which it was planned, on the clock of `performance.now()`: a generator that is late
 * makes calls slower, not fewer.
 */
export async function runOpenLoop<Item extends Timed>(
  items: readonly Item[],
  startAt: number,
  run: (item: Item, plannedAt: number) => Promise<void>,
): Promise<void> {
  const underWay: Promise<void>[] = [];
  for (const item of items) {
    const plannedAt = startAt + item.ms;
    const wait = plannedAt - performance.now();
    if (wait > 0) await sleep(wait);
    underWay.push(run(item, plannedAt));
  }
  await Promise.all(underWay);
}
