interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers what is asked within a few milliseconds into one request. */
export class MicroBatch<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private timer: NodeJS.Timeout | undefined;

  /** @param send answers all items of a batch in their order, or fails for all of them */
  constructor(
    private readonly most: number,
    private readonly windowMs: number,
    private readonly send: (items: readonly Item[]) => Promise<readonly Result[]>,
  ) {}

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.waiting.length >= this.most) void this.flush();
      else this.timer ??= setTimeout(() => void this.flush(), this.windowMs);
    });
  }

  private async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = this.waiting.splice(0);
    try {
      const results = await this.send(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index];
        if (result === undefined) reject(new RangeError('a batch was answered in part'));
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
