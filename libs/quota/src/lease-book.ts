import type { PermitTimings } from './timings';

/**
 * When leases end. Fresh and renewed leases last equally long among themselves, so that each kind stays ordered by
 * expiry if the latest is put last.
 */
export class LeaseBook {
  private readonly fresh = new Map<string, number>();
  private readonly renewed = new Map<string, number>();

  constructor(private readonly timings: PermitTimings) {}

  start(ticket: string, now: number): void {
    this.fresh.set(ticket, now + this.timings.claimMs);
  }

  renew(ticket: string, now: number): void {
    if (!this.end(ticket)) return;
    this.renewed.set(ticket, now + this.timings.leaseMs);
  }

  /** False: there was none. */
  end(ticket: string): boolean {
    return this.fresh.delete(ticket) || this.renewed.delete(ticket);
  }

  /** Milliseconds since the epoch at which the next lease ends; Infinity: there is none. */
  nextEnd(): number {
    const [fresh, renewed] = [this.fresh.values().next(), this.renewed.values().next()];
    return Math.min(fresh.value ?? Infinity, renewed.value ?? Infinity);
  }

  /** The tickets whose leases have ended, in order; those that ended together by name, as in Redis. */
  expired(now: number): readonly string[] {
    if (this.nextEnd() > now) return [];
    const ended: [ticket: string, at: number][] = [];
    for (const kind of [this.fresh, this.renewed]) {
      for (const lease of kind) {
        if (lease[1] > now) break;
        ended.push(lease);
      }
    }
    ended.sort(([one, oneAt], [other, otherAt]) => oneAt - otherAt || (one < other ? -1 : 1));
    return ended.map(([ticket]) => ticket);
  }
}
