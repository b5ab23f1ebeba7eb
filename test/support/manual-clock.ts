import { Clock } from '@spillway/contracts';

/** A clock that a test sets. */
export class ManualClock extends Clock {
  constructor(public time = 1_800_000_000_000) {
    super();
  }

  now(): number {
    return this.time;
  }
}
