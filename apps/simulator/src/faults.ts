import type { Random } from './random';
import type { Fault } from './settings';

/** Decides for each call which fault strikes it, if any. */
export class FaultDice {
  private readonly tries: { readonly fault: Fault; seen: number; struck: number }[];

  constructor(
    faults: readonly Fault[],
    private readonly random: Random,
  ) {
    this.tries = faults.map(fault => ({ fault, seen: 0, struck: 0 }));
  }

  next(): Fault | null {
    for (const entry of this.tries) {
      entry.seen += 1;
      const { after = 0, times = Infinity, probability = 1 } = entry.fault;
      if (entry.seen <= after || entry.struck >= times) continue;
      if (probability < 1 && this.random() >= probability) continue;
      entry.struck += 1;
      return entry.fault;
    }
    return null;
  }
}
