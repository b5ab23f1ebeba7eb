interface Begun<Value> {
  /** Undefined: it has not ended. Null: it ended and says nothing. */
  value: Value | null | undefined;
}

/** Ended ones that wait for one that takes longer, at most. */
const PATIENCE = 256;

/**
 * Takes values in the order in which what they tell of began, though it ends in another. The first to end are the short
 * ones: after a burst, whoever learns from them as they come takes all for short.
 */
export class InOrder<Value> {
  private readonly begun = new Set<Begun<Value>>();
  private ended = 0;

  constructor(private readonly take: (value: Value) => void) {}

  /** Something begins; what is returned is to be called when it ends, with its value (null: there is none). */
  begin(): (value: Value | null) => void {
    const one: Begun<Value> = { value: undefined };
    this.begun.add(one);
    return value => {
      if (one.value === undefined) this.end(one, value);
    };
  }

  private end(one: Begun<Value>, value: Value | null): void {
    one.value = value;
    if (!this.begun.has(one)) return this.learn(value);
    this.ended++;
    for (const next of this.begun) {
      // One that takes too long is let go of, and taken in late.
      if (next.value === undefined && this.ended <= PATIENCE) return;
      this.begun.delete(next);
      if (next.value === undefined) continue;
      this.ended--;
      this.learn(next.value);
    }
  }

  private learn(value: Value | null): void {
    if (value !== null) this.take(value);
  }
}
