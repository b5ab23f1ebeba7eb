import type { ObservedBucket } from '@spillway/contracts';

const MINUTE_MS = 60_000;
/** A reset that is further away is not that of a window. */
const DAY_MS = 86_400_000;
/** How much more than we know of a provider may have counted before it is news: calls overtake each other. */
const OVERTAKING = 0.02;

/** What counts of what a provider said of a bucket. */
export interface ObservedUse {
  /** What may still go; null: not said, or no news. */
  readonly left: number | null;
  /** Its limit; null: not said, or not below ours. */
  readonly limit: number | null;
  readonly resetMs: number;
}

/** The call whose answer told something, and what we knew of the bucket when it went out. */
export interface Witness {
  /** Its number among the calls of the model. */
  readonly call: number;
  /** What it was booked with in this bucket: 1, or its tokens. */
  readonly amount: number;
  /** What went out with it and before it. */
  readonly sent: number;
  /** What our own window held then, itself included; 0: there is none. */
  readonly known: number;
}

/**
 * What a provider said of one bucket of a model. It only tightens: until the reset at most what remained, less what has
 * gone out after the call that was told so. The newest call wins. Where our own window knew of all that the provider
 * had counted nobody else uses the bucket, and our window, which forgets call by call, is the better account.
 */
export class ObservedWindow {
  /** What has gone out so far. */
  sent = 0;
  private call = 0;
  private till = 0;
  /** What may still go; Infinity: not said, or no news. */
  private left = Infinity;
  /** The limit that was told, where it is below the configured one; 0: it is not. */
  private cap = 0;

  /** The limit that counts now; 0: none. */
  limit(configured: number, time: number): number {
    return this.cap > 0 && time < this.till ? Math.min(this.cap, configured) : configured;
  }

  /** Null: `amount` may go; else the moment at which the window is over. */
  refusedUntil(amount: number, time: number): number | null {
    return time < this.till && this.left < amount ? this.till : null;
  }

  /** When a limit that was told ends to count; null: none counts. */
  capEnd(time: number): number | null {
    return this.cap > 0 && time < this.till ? this.till : null;
  }

  /** What counts of what was told; null: nothing does. */
  use(time: number): ObservedUse | null {
    if (time >= this.till || (this.left === Infinity && this.cap === 0)) return null;
    return {
      left: this.left === Infinity ? null : Math.max(0, this.left),
      limit: this.cap === 0 ? null : this.cap,
      resetMs: this.till - time,
    };
  }

  take(amount: number): void {
    this.sent += amount;
    this.left -= amount;
  }

  /** A call used more or less than it was booked with. */
  correct(call: number, surplus: number): void {
    if (call > this.call) this.left -= surplus;
  }

  /** A call was told about the bucket; `configured`: our own limit, 0: none. */
  observe(bucket: ObservedBucket, witness: Witness, configured: number, time: number): void {
    const { limit, remaining, resetMs } = bucket;
    if (resetMs !== undefined && (resetMs <= 0 || resetMs > DAY_MS)) return;
    if (time < this.till && witness.call < this.call) return;
    const cap = limit !== undefined && limit > 0 && limit < configured ? limit : 0;
    const tells = remaining !== undefined && resetMs !== undefined && !isKnown(bucket, witness, configured);
    if (cap === 0 && resetMs === undefined) return;
    this.call = witness.call;
    this.cap = cap;
    this.till = time + Math.ceil(resetMs ?? MINUTE_MS);
    this.left = tells ? remaining - (this.sent - witness.sent) : Infinity;
  }
}

function isKnown({ limit, remaining }: ObservedBucket, { amount, known }: Witness, configured: number): boolean {
  if (configured === 0 || limit === undefined || remaining === undefined || limit < configured) return false;
  return limit - remaining <= known + 2 * amount + OVERTAKING * limit;
}
