import type { Clock } from '@spillway/contracts';

/** How long another process counts as there after the last sign of it, ms; it is counted once a second. */
const SIGN_LASTS_MS = 3_000;

/** How many processes there are on the same Redis, this one among them. */
export interface ProcessCount {
  readonly processes: number;
}

/**
 * Whether another process may be at the same work. Alone there is nobody to share with, and a miss saves two commands
 * and a round trip. A process that has just come is not counted yet, so each says that it is there.
 */
export class Company {
  private until = -Infinity;

  constructor(
    private readonly count: ProcessCount,
    private readonly clock: Clock,
  ) {}

  get isThere(): boolean {
    if (this.count.processes > 1) this.sign();
    return this.clock.now() < this.until;
  }

  /** Another process was heard of. */
  sign(): void {
    this.until = this.clock.now() + SIGN_LASTS_MS;
  }
}
