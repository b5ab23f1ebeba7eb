import { Clock } from '@spillway/contracts';

interface Moment {
  readonly ms: number;
  /** Of two things at the same time the one that was planned first comes first. */
  readonly order: number;
  readonly work: () => void;
}

/** When virtual time begins: some moment after the epoch, as all windows expect. */
const START_MS = 1_800_000_000_000;

/** A clock that jumps from one planned thing to the next: hours pass in the time that the work itself takes. */
export class VirtualTime extends Clock {
  private current = START_MS;
  private planned = 0;
  /** A binary heap, the next moment first. */
  private readonly moments: Moment[] = [];

  now(): number {
    return this.current;
  }

  /** Milliseconds since time began. */
  get elapsedMs(): number {
    return this.current - START_MS;
  }

  /** Does something `delayMs` from now, never before what was planned earlier for the same moment. */
  after(delayMs: number, work: () => void): void {
    this.push({ ms: this.current + Math.max(0, delayMs), order: this.planned++, work });
  }

  /** Lets time pass until nothing is planned any more. */
  run(): void {
    for (let next = this.pop(); next !== undefined; next = this.pop()) {
      this.current = next.ms;
      next.work();
    }
  }

  private push(moment: Moment): void {
    let index = this.moments.length;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.moments[above];
      if (parent === undefined || isBefore(parent, moment)) break;
      this.moments[index] = parent;
      index = above;
    }
    this.moments[index] = moment;
  }

  private pop(): Moment | undefined {
    const [first] = this.moments;
    const last = this.moments.pop();
    if (first === undefined || last === undefined || first === last) return first;
    let index = 0;
    for (;;) {
      const below = this.sooner(2 * index + 1, 2 * index + 2);
      const child = this.moments[below];
      if (child === undefined || isBefore(last, child)) break;
      this.moments[index] = child;
      index = below;
    }
    this.moments[index] = last;
    return first;
  }

  private sooner(one: number, other: number): number {
    const [left, right] = [this.moments[one], this.moments[other]];
    return left !== undefined && right !== undefined && isBefore(right, left) ? other : one;
  }
}

function isBefore(one: Moment, other: Moment): boolean {
  return one.ms < other.ms || (one.ms === other.ms && one.order < other.order);
}
