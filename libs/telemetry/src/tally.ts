import { Counter, type Registry } from 'prom-client';
import { ByLabels } from './labels';

/** Takes amounts for labels that are known. */
export interface Adds {
  add(amount: number): void;
}

/** What was added since it was last taken. */
class Sum implements Adds {
  private amount = 0;

  add(amount: number): void {
    if (amount >= 0 && amount < Infinity) this.amount += amount;
  }

  take(): number {
    const { amount } = this;
    this.amount = 0;
    return amount;
  }
}

interface TallyOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registry: Registry;
}

/**
 * A counter that sums up what is added until somebody looks: prom-client sorts and checks the labels of every
 * addition, which takes several times as long, several times a call.
 */
export class Tally {
  private readonly pending: ByLabels<Sum>;
  private readonly counter: Counter;

  constructor({ name, help, labelNames, registry }: TallyOptions) {
    const pending = new ByLabels(labelNames, () => new Sum());
    this.pending = pending;
    this.counter = new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const [labels, sum] of pending.entries()) this.inc(labels, sum.take());
      },
    });
  }

  /** What was added so far, by labels. */
  async sums(): Promise<readonly { readonly labels: Readonly<Record<string, unknown>>; readonly value: number }[]> {
    const { values } = await this.counter.get();
    return values;
  }

  /** `values` in the order of the names of the labels. What no counter can grow by is left out: a model may report it. */
  add(amount: number, ...values: readonly string[]): void {
    this.pending.at(values).add(amount);
  }

  /** What `add` adds to with these labels, for whoever adds more than once. */
  of(...values: readonly string[]): Adds {
    return this.pending.at(values);
  }
}
