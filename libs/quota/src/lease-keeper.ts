import type { Clock } from '@spillway/contracts';
import { RedisUnavailable } from '@spillway/redis';
import type { Grant } from './permits';
import type { PermitTimings } from './timings';

/** Ends the use of a grant, by the way it is given back; a second time does nothing. */
type EndOfUse = (giveBack: () => Promise<void>) => void;

/** Whoever knows of the leases. */
interface Lessor {
  renew(grants: readonly Grant[]): Promise<void>;
}

interface Held {
  readonly grant: Grant;
  /** Milliseconds since the epoch. */
  renewAt: number;
}

interface Return {
  readonly giveBack: () => Promise<void>;
  /** Milliseconds since the epoch: its lease has ended by then. */
  readonly leaseEndsBy: number;
}

/** The grants of this process that are in use: keeps their leases and sees to it that each is given back once. */
export class LeaseKeeper {
  private readonly grants = new Map<string, Held>();
  private readonly timer: NodeJS.Timeout;
  /** What could not be given back while Redis was lost. */
  private late: Return[] = [];
  private tendedAt: number;
  private doubtUntil = -Infinity;

  constructor(
    private readonly lessor: Lessor,
    private readonly clock: Clock,
    private readonly times: PermitTimings,
    private readonly report: (problem: string, error: unknown) => void,
  ) {
    // So a first renewal is at most three quarters of a claim away, and each further one a third of a lease.
    const periodMs = Math.min(times.leaseMs / 6, times.claimMs / 4);
    this.timer = setInterval(() => this.tend(), periodMs).unref();
    this.tendedAt = clock.now();
  }

  /** Keeps the lease of a grant until its use ends. */
  hold(grant: Grant): EndOfUse {
    const held: Held = { grant, renewAt: this.clock.now() + this.times.claimMs / 2 };
    this.grants.set(grant.ticket, held);
    return giveBack => {
      if (this.grants.get(grant.ticket) !== held) return;
      this.grants.delete(grant.ticket);
      this.giveBack(giveBack);
    };
  }

  /** Gives back what this process may hold without knowing it: its grant was lost on the way. */
  giveBack(giveBack: () => Promise<void>): void {
    this.tryToGiveBack({ giveBack, leaseEndsBy: this.clock.now() + this.times.leaseMs });
  }

  /** Whether this process stood still so recently that a message may speak of a grant whose lease has ended since. */
  get mayBeStale(): boolean {
    this.noteStall();
    return this.clock.now() < this.doubtUntil;
  }

  has(grant: Grant): boolean {
    return this.grants.get(grant.ticket)?.grant.lease === grant.lease;
  }

  /** Leaves what is still held to the expiry of the leases. */
  stop(): void {
    clearInterval(this.timer);
  }

  private tend(): void {
    this.noteStall();
    this.tendedAt = this.clock.now();
    const late = this.late;
    this.late = [];
    for (const one of late) this.tryToGiveBack(one);
    void this.renewDue();
  }

  private noteStall(): void {
    const now = this.clock.now();
    if (now - this.tendedAt > this.times.claimMs) this.doubtUntil = now + this.times.claimMs;
  }

  private tryToGiveBack(back: Return): void {
    back.giveBack().catch((error: unknown) => {
      const willEndByItself = back.leaseEndsBy <= this.clock.now();
      if (error instanceof RedisUnavailable && !willEndByItself) this.late.push(back);
      else this.report('a permit was not given back and ends with its lease', error);
    });
  }

  private async renewDue(): Promise<void> {
    const now = this.clock.now();
    const due = [...this.grants.values()].filter(held => held.renewAt <= now);
    if (due.length === 0) return;
    for (const held of due) held.renewAt = now + this.times.leaseMs / 6;
    try {
      await this.lessor.renew(due.map(held => held.grant));
    } catch (error) {
      for (const held of due) held.renewAt = now;
      this.report('leases were not renewed', error);
    }
  }
}
