/** How a ring counts: `width` in ms of one bucket, and for each window the age in buckets of the oldest it counts. */
export interface RingShape {
  readonly width: number;
  /** Ascending. */
  readonly ages: readonly number[];
  /** Numbers kept side by side. */
  readonly lanes: number;
}

/** Buckets that are kept together, as a power of two; there are none of a page until something has happened in it. */
const PAGE_BITS = 4;
const PAGE = 1 << PAGE_BITS;

/**
 * What happened in the last minutes, counted in buckets: bounded memory, little where little happened, and never too
 * little counted. A bucket counts until the last moment of it has left the window.
 */
export class Ring {
  /** By window, then lane. */
  readonly sums: readonly Float64Array[];
  /** The number of the bucket that is filled now. */
  at = -Infinity;
  /** The last bucket in which anything was counted. */
  private latest = -Infinity;
  private pages: (Float64Array | undefined)[] = [];
  private readonly size: number;

  constructor(readonly shape: RingShape) {
    this.size = Math.max(...shape.ages) + 1;
    this.sums = shape.ages.map(() => new Float64Array(shape.lanes));
  }

  /** Moves on to `now`, which must never run backwards. */
  advance(now: number): void {
    const bucket = Math.floor(now / this.shape.width);
    if (bucket <= this.at) return;
    if (bucket - this.at >= this.size) {
      this.pages = [];
      for (const sums of this.sums) sums.fill(0);
    } else {
      this.shape.ages.forEach((age, window) => this.leave(window, this.at - age, Math.min(this.at, bucket - age - 1)));
      for (let passed = this.at + 1; passed <= bucket; passed++) this.clear(passed);
    }
    this.at = bucket;
  }

  /** Adds to a lane, in the bucket filled now or an earlier one, as far as the windows still count that. */
  add(lane: number, amount: number, bucket = this.at): void {
    if (amount === 0 || bucket <= this.at - this.size) return;
    const position = this.position(bucket);
    const page = (this.pages[position >> PAGE_BITS] ??= new Float64Array(PAGE * this.shape.lanes));
    const slot = (position & (PAGE - 1)) * this.shape.lanes + lane;
    page[slot] = (page[slot] ?? 0) + amount;
    if (bucket > this.latest) this.latest = bucket;
    this.sums.forEach((sums, window) => {
      if (bucket >= this.at - (this.shape.ages[window] ?? 0)) sums[lane] = (sums[lane] ?? 0) + amount;
    });
  }

  /** The first moment at which `fits` holds for what a window then still counts, if nothing is added; null: never. */
  whenFits(window: number, fits: (sums: Float64Array) => boolean): number | null {
    const sums = Float64Array.from(this.sums[window] ?? []);
    const age = this.shape.ages[window] ?? 0;
    for (let bucket = this.at - age; bucket <= this.at; bucket++) {
      if (this.takeFrom(sums, bucket) && fits(sums)) return (bucket + age + 1) * this.shape.width;
    }
    return null;
  }

  /** The moment from which a window counts nothing, if nothing is added. */
  whenEmpty(window: number): number {
    return (this.latest + (this.shape.ages[window] ?? 0) + 1) * this.shape.width;
  }

  private leave(window: number, from: number, to: number): void {
    const sums = this.sums[window];
    if (sums === undefined) return;
    for (let bucket = from; bucket <= to; bucket++) this.takeFrom(sums, bucket);
  }

  /** Takes what a bucket holds from sums; false: it holds nothing. */
  private takeFrom(sums: Float64Array, bucket: number): boolean {
    const position = this.position(bucket);
    const page = this.pages[position >> PAGE_BITS];
    if (page === undefined) return false;
    const start = (position & (PAGE - 1)) * this.shape.lanes;
    let changed = false;
    for (let lane = 0; lane < this.shape.lanes; lane++) {
      const amount = page[start + lane] ?? 0;
      if (amount === 0) continue;
      sums[lane] = (sums[lane] ?? 0) - amount;
      changed = true;
    }
    return changed;
  }

  private clear(bucket: number): void {
    const position = this.position(bucket);
    const start = (position & (PAGE - 1)) * this.shape.lanes;
    this.pages[position >> PAGE_BITS]?.fill(0, start, start + this.shape.lanes);
  }

  private position(bucket: number): number {
    return bucket % this.size;
  }
}
