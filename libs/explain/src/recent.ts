interface Slot<Item> {
  readonly item: Item;
  readonly bytes: number;
}

/** The last items, at most so many and at most so many bytes: a ring, so that adding one costs the same however many. */
export class Recent<Item> {
  private readonly slots: (Slot<Item> | undefined)[];
  private oldest = 0;
  private count = 0;
  private bytes = 0;

  constructor(
    private readonly mostItems: number,
    private readonly mostBytes: number,
    private readonly bytesOf: (item: Item) => number,
  ) {
    this.slots = Array.from({ length: mostItems });
  }

  add(item: Item): void {
    if (this.mostItems === 0) return;
    const bytes = this.bytesOf(item);
    while (this.count > 0 && (this.count === this.mostItems || this.bytes + bytes > this.mostBytes))
      this.forgetOldest();
    this.slots[(this.oldest + this.count) % this.mostItems] = { item, bytes };
    this.count += 1;
    this.bytes += bytes;
  }

  /** The latest that fits. */
  find(fits: (item: Item) => boolean): Item | undefined {
    for (let back = this.count - 1; back >= 0; back--) {
      const slot = this.slots[(this.oldest + back) % this.mostItems];
      if (slot !== undefined && fits(slot.item)) return slot.item;
    }
    return undefined;
  }

  private forgetOldest(): void {
    this.bytes -= this.slots[this.oldest]?.bytes ?? 0;
    this.slots[this.oldest] = undefined;
    this.oldest = (this.oldest + 1) % this.mostItems;
    this.count -= 1;
  }
}
