/** How a ring counts: `width` in ms of one bucket, and for each window the age in buckets of the oldest it counts. */
export interface RingShape {
  readonly width: number;
  /** Ascending. */
  readonly ages: readonly number[];
  /** Numbers kept side by side. */
  readonly lanes: number;
}

/**
 * What happened in the last minutes, counted in buckets: constant memory, and never too little. A bucket counts until
 * the last moment of it has left the window.
 */
export class Ring {
  /** By window, then lane. */
  readonly sums: readonly Float64Array[];
  /** The number of the bucket that is filled now. */
  at = -Infinity;
  private readonly slots: Float64Array;
  private readonly size: number;

  constructor(readonly shape: RingShape) {
    this.size = Math.max(...shape.ages) + 1;
    this.slots = new Float64Array(this.size * shape.lanes);
    this.sums = shape.ages.map(() => new Float64Array(shape.lanes));
  }

  /** Moves on to `now`, which must never run backwards. */
  advance(now: number): void {
    const bucket = Math.floor(now / this.shape.width);
    if (bucket <= this.at) return;
    if (bucket - this.at >= this.size) {
      this.slots.fill(0);
      for (const sums of this.sums) sums.fill(0);
    } else {
      this.shape.ages.forEach((age, window) => this.leave(window, this.at - age, Math.min(this.at, bucket - age - 1)));
      for (let passed = this.at + 1; passed <= bucket; passed++) this.clear(passed);
    }
    this.at = bucket;
  }

  /** Adds to a lane, in the bucket filled now or an earlier one, as far as the windows still count that. */
  add(lane: number, amount: number, bucket = this.at): void {
    const slot = this.slot(bucket) + lane;
    if (bucket <= this.at - this.size) return;
    this.slots[slot] = (this.slots[slot] ?? 0) + amount;
    this.sums.forEach((sums, window) => {
      if (bucket >= this.at - (this.shape.ages[window] ?? 0)) sums[lane] = (sums[lane] ?? 0) + amount;
    });
  }

  /** The first moment at which `fits` holds for what a window then still counts, if nothing is added; null: never. */
  whenFits(window: number, fits: (sums: Float64Array) => boolean): number | null {
    const sums = Float64Array.from(this.sums[window] ?? []);
    const age = this.shape.ages[window] ?? 0;
    for (let bucket = this.at - age; bucket <= this.at; bucket++) {
      const slot = this.slot(bucket);
      let changed = false;
      for (let lane = 0; lane < this.shape.lanes; lane++) {
        const amount = this.slots[slot + lane] ?? 0;
        if (amount === 0) continue;
        sums[lane] = (sums[lane] ?? 0) - amount;
        changed = true;
      }
      if (changed && fits(sums)) return (bucket + age + 1) * this.shape.width;
    }
    return null;
  }

  private slot(bucket: number): number {
    return (((bucket % this.size) + this.size) % this.size) * this.shape.lanes;
  }

  private leave(window: number, from: number, to: number): void {
    const sums = this.sums[window];
    if (sums === undefined) return;
    for (let bucket = from; bucket <= to; bucket++) {
      const slot = this.slot(bucket);
      for (let lane = 0; lane < this.shape.lanes; lane++)
        sums[lane] = (sums[lane] ?? 0) - (this.slots[slot + lane] ?? 0);
    }
  }

  private clear(bucket: number): void {
    const slot = this.slot(bucket);
    this.slots.fill(0, slot, slot + this.shape.lanes);
  }
}
