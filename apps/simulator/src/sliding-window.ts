const FIRST_CAPACITY = 16;

/** The sum of what happened in the last `spanMs` milliseconds, exact to the timestamp: a record leaves at its age. */
export class SlidingWindow {
  // A ring of (time, amount); its capacity is a power of two, so that an index wraps with a mask.
  private times = new Float64Array(FIRST_CAPACITY);
  private amounts = new Float64Array(FIRST_CAPACITY);
  private head = 0;
  private length = 0;
  private sum = 0;

  constructor(readonly spanMs: number) {}

  total(now: number): number {
    this.trim(now);
    return this.sum;
  }

  /** With `maxRecords`, the oldest record makes room: enough to know that the window is full. */
  add(now: number, amount: number, maxRecords = Infinity): void {
    this.trim(now);
    if (this.length >= maxRecords) this.dropOldest();
    if (this.length === this.times.length) this.grow();
    const index = (this.head + this.length) & (this.times.length - 1);
    this.times[index] = now;
    this.amounts[index] = amount;
    this.length += 1;
    this.sum += amount;
  }

  /** Milliseconds until `amount` more fits under `limit`; null: never. */
  msUntilFits(now: number, amount: number, limit: number): number | null {
    if (amount > limit) return null;
    let sum = this.total(now);
    for (let record = 0; record < this.length; record += 1) {
      if (sum + amount <= limit) return record === 0 ? 0 : this.leavesAt(record - 1) - now;
      sum -= this.amountAt(record);
    }
    return this.length === 0 ? 0 : this.leavesAt(this.length - 1) - now;
  }

  /** Milliseconds until the oldest record leaves. */
  msUntilNext(now: number): number {
    this.trim(now);
    return this.length === 0 ? 0 : this.leavesAt(0) - now;
  }

  /** Milliseconds until nothing is left, if nothing is added. */
  msUntilEmpty(now: number): number {
    this.trim(now);
    return this.length === 0 ? 0 : this.leavesAt(this.length - 1) - now;
  }

  private leavesAt(record: number): number {
    return (this.times[(this.head + record) & (this.times.length - 1)] ?? 0) + this.spanMs;
  }

  private amountAt(record: number): number {
    return this.amounts[(this.head + record) & (this.times.length - 1)] ?? 0;
  }

  private trim(now: number): void {
    while (this.length > 0 && this.leavesAt(0) <= now) this.dropOldest();
  }

  private dropOldest(): void {
    this.sum -= this.amountAt(0);
    this.head = (this.head + 1) & (this.times.length - 1);
    this.length -= 1;
  }

  private grow(): void {
    const times = new Float64Array(this.times.length * 2);
    const amounts = new Float64Array(this.times.length * 2);
    for (let record = 0; record < this.length; record += 1) {
      times[record] = this.leavesAt(record) - this.spanMs;
      amounts[record] = this.amountAt(record);
    }
    this.times = times;
    this.amounts = amounts;
    this.head = 0;
  }
}
