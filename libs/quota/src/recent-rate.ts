/** How many calls a second there were of late: over the last one to two spans, as far as anything is known. */
export class RecentRate {
  private count = 0;
  private since: number | null = null;
  private before = 0;
  private beforeMs = 0;

  /** One more; a span in seconds. */
  add(time: number, spanS: number): void {
    const spanMs = spanS * 1000;
    const gone = this.since === null ? Infinity : time - this.since;
    if (gone >= spanMs) {
      [this.before, this.beforeMs] = gone >= 2 * spanMs ? [0, 0] : [this.count, gone];
      [this.count, this.since] = [0, time];
    }
    this.count++;
  }

  /** One did not count after all. */
  withdraw(): void {
    this.count = Math.max(0, this.count - 1);
  }

  /** Calls a second; of less than a second as if it had been one. */
  at(time: number): number {
    return ((this.count + this.before) * 1000) / Math.max(1000, time - (this.since ?? time) + this.beforeMs);
  }
}
