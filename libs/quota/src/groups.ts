import { LRUCache } from 'lru-cache';

/** Fewer values say little about those that are rare. */
const VALUES_TO_JUDGE_BY = 20;

/** What is remembered of the values of one group. */
interface Remembered {
  /** Values that it knows of. */
  readonly count: number;
  add(value: number): void;
}

/** What is known of groups of values. Callers choose names of groups, so these are bounded: a kilobyte each. */
export class Groups<Kind extends Remembered> {
  private readonly groups: LRUCache<string, Kind & object>;

  constructor(
    most: number,
    private readonly create: () => Kind,
  ) {
    this.groups = new LRUCache({ max: most });
  }

  add(group: string, value: number): void {
    let known = this.groups.get(group);
    if (known === undefined) this.groups.set(group, (known = this.create()));
    known.add(value);
  }

  /** Null: too few values of the group are known. */
  known(group: string): Kind | null {
    const known = this.groups.get(group);
    return known !== undefined && known.count >= VALUES_TO_JUDGE_BY ? known : null;
  }

  /** However few its values; null: there are none. */
  anyOf(group: string): Kind | null {
    return this.groups.get(group) ?? null;
  }
}
