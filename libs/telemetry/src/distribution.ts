import type { Metric, MetricValueWithName, Registry } from 'prom-client';
import { ByLabels } from './labels';
import type { Adds } from './tally';

interface DistributionOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

/** What was observed of one set of labels. */
class Observed implements Adds {
  /** By bucket; the last one has no bound. */
  readonly counts: number[];
  count = 0;
  sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  add(value: number): void {
    if (!Number.isFinite(value)) return;
    let bucket = 0;
    while (value > (this.bounds[bucket] ?? Infinity)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.count += 1;
    this.sum += value;
  }
}

/**
 * A histogram that, like a `Tally`, leaves labels and running totals to whoever looks: an observation of prom-client's
 * own takes several times as long, five times a call.
 */
export class Distribution {
  private readonly observed: ByLabels<Observed>;

  constructor(private readonly options: DistributionOptions) {
    const { name, help, registry, labelNames, buckets } = options;
    this.observed = new ByLabels(labelNames, () => new Observed(buckets));
    const get = async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: this.values() });
    // All that a registry asks of its metrics.
    registry.registerMetric({ name, get } as unknown as Metric);
  }

  /** `values` in the order of the names of the labels. What is no number, or none that ends, is left out. */
  add(value: number, ...values: readonly string[]): void {
    this.observed.at(values).add(value);
  }

  /** What `add` adds to with these labels, for whoever adds more than once. */
  of(...values: readonly string[]): Adds {
    return this.observed.at(values);
  }

  private values(): readonly MetricValueWithName<string>[] {
    const observed = [...this.observed.entries()].filter(([, { count }]) => count > 0);
    return observed.flatMap(([labels, one]) => this.valuesOf(labels, one));
  }

  private valuesOf(labels: Record<string, string>, { counts, count, sum }: Observed): MetricValueWithName<string>[] {
    const metricName = `${this.options.name}_bucket`;
    let upTo = 0;
    const buckets = counts.map((amount, index) => {
      upTo += amount;
      return { metricName, labels: { le: this.options.buckets[index] ?? '+Inf', ...labels }, value: upTo };
    });
    return [
      ...buckets,
      { metricName: `${this.options.name}_sum`, labels, value: sum },
      { metricName: `${this.options.name}_count`, labels, value: count },
    ];
  }
}
