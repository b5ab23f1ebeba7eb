import { LRUCache } from 'lru-cache';
import { Histogram } from './histogram';

/** Fewer values say little about those that are rare. */
const VALUES_TO_JUDGE_BY = 20;

/** How large the values of each group were. Callers choose names of groups, so these are bounded: about 350 bytes each. */
export class Histograms {
  private readonly groups: LRUCache<string, Histogram>;

  constructor(most: number) {
    this.groups = new LRUCache({ max: most });
  }

  add(group: string, value: number): void {
    let histogram = this.groups.get(group);
    if (histogram === undefined) this.groups.set(group, (histogram = new Histogram()));
    histogram.add(value);
  }

  /** Null: too few values of the group are known. */
  known(group: string): Histogram | null {
    const histogram = this.groups.get(group);
    return histogram !== undefined && histogram.count >= VALUES_TO_JUDGE_BY ? histogram : null;
  }
}
