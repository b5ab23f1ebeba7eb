import { PRIORITIES } from '@spillway/contracts';

/** A wait as the memory law keeps it. */
export interface Wait {
  readonly ticket: string;
  /** Rank of its class, 0 for the most important. */
  readonly rank: number;
  /** Milliseconds since the epoch. */
  readonly turnBy: number;
  readonly arrival: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly models: readonly string[];
  readonly tokens: number;
}

function before(one: Wait, other: Wait): boolean {
  return one.turnBy < other.turnBy || (one.turnBy === other.turnBy && one.arrival < other.arrival);
}

/** Waits in order: class, then turnBy, then arrival. */
export class WaitList {
  private readonly byRank: readonly Wait[][] = PRIORITIES.map(() => []);

  /** A wait that is there already stays as it is. */
  add(wait: Wait): void {
    const waits = this.of(wait.rank);
    const position = this.position(wait);
    if (waits[position] !== wait) waits.splice(position, 0, wait);
  }

  remove(wait: Wait): void {
    const waits = this.of(wait.rank);
    const position = this.position(wait);
    if (waits[position] === wait) waits.splice(position, 1);
  }

  /** The best wait of a class, or of all. */
  first(rank?: number): Wait | undefined {
    if (rank !== undefined) return this.of(rank)[0];
    for (const waits of this.byRank) if (waits[0] !== undefined) return waits[0];
    return undefined;
  }

  /** The first of a class, at most so many. */
  list(rank: number, most: number): readonly Wait[] {
    return this.of(rank).slice(0, most);
  }

  count(rank: number): number {
    return this.of(rank).length;
  }

  /** How many come before a wait that may or may not be in the list. */
  ahead(wait: Wait): number {
    let higher = 0;
    for (let rank = 0; rank < wait.rank; rank++) higher += this.count(rank);
    return higher + this.position(wait);
  }

  private of(rank: number): Wait[] {
    return this.byRank[rank] ?? [];
  }

  private position(wait: Wait): number {
    const waits = this.of(wait.rank);
    let [from, to] = [0, waits.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = waits[middle];
      if (other !== undefined && before(other, wait)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
