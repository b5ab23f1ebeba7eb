import { Counter, type Registry } from 'prom-client';
import { ByLabels } from './labels';

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
  private readonly pending: ByLabels<{ amount: number }>;
  private readonly counter: Counter;

  constructor({ name, help, labelNames, registry }: TallyOptions) {
    const pending = new ByLabels(labelNames, () => ({ amount: 0 }));
    this.pending = pending;
    this.counter = new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const [labels, { amount }] of pending.entries()) this.inc(labels, amount);
        pending.clear();
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
    if (!(amount >= 0 && amount < Infinity)) return;
    this.pending.at(values).amount += amount;
  }
}
