/** The last items, at most so many and at most so many bytes: a ring, so that adding one costs the same however many. */
export class Recent<Item> {
  private readonly items: (Item | undefined)[];
  /** Of each item. */
  private readonly sizes: number[];
  private oldest = 0;
  private count = 0;
  private bytes = 0;

  constructor(
    private readonly mostItems: number,
    private readonly mostBytes: number,
    private readonly bytesOf: (item: Item) => number,
  ) {
    this.items = Array.from({ length: mostItems });
    this.sizes = Array.from({ length: mostItems }, () => 0);
  }

  add(item: Item): void {
    if (this.mostItems === 0) return;
    const bytes = this.bytesOf(item);
    while (this.count > 0 && (this.count === this.mostItems || this.bytes + bytes > this.mostBytes))
      this.forgetOldest();
    const at = (this.oldest + this.count) % this.mostItems;
    this.items[at] = item;
    this.sizes[at] = bytes;
    this.count += 1;
    this.bytes += bytes;
  }

  /** The latest that fits. */
  find(fits: (item: Item) => boolean): Item | undefined {
    for (let back = this.count - 1; back >= 0; back--) {
      const item = this.items[(this.oldest + back) % this.mostItems];
      if (item !== undefined && fits(item)) return item;
    }
    return undefined;
  }

  private forgetOldest(): void {
    this.bytes -= this.sizes[this.oldest] ?? 0;
    this.items[this.oldest] = undefined;
    this.oldest = (this.oldest + 1) % this.mostItems;
    this.count -= 1;
  }
}
