/** The only source of time for decisions; tests hand in their own. */
export abstract class Clock {
  /** Milliseconds since the epoch. */
  abstract now(): number;
}

/** The clock of the machine, which never runs backwards within a process. */
export class SystemClock extends Clock {
  private readonly origin = Date.now() - performance.now();

  now(): number {
    return this.origin + performance.now();
  }
}
