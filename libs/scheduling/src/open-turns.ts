import type { Clock, ModelSettings, Turn, TurnEnd, Usage } from '@spillway/contracts';
import type { Grant, Permits } from '@spillway/quota';
import type { Report } from './report';

/** Milliseconds a permit is held without a sign of life of its owner. */
export interface LeaseTimes {
  /** After each renewal. */
  readonly lease_ms: number;
  /** From the grant until the first renewal. */
  readonly claim_ms: number;
}

interface OpenTurn {
  readonly grant: Grant;
  /** Milliseconds since the epoch. */
  renewAt: number;
}

/** The turns of this process that are in use: keeps their leases and gives their permits back, each exactly once. */
export class OpenTurns {
  private readonly turns = new Map<string, OpenTurn>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly permits: Pick<Permits, 'release' | 'renew'>,
    private readonly clock: Clock,
    private readonly times: LeaseTimes,
    private readonly report: Report,
  ) {
    // So a first renewal is at most three quarters of a claim away, and each further one a third of a lease.
    const periodMs = Math.min(times.lease_ms / 6, times.claim_ms / 4);
    this.timer = setInterval(() => void this.renewDue(), periodMs).unref();
  }

  /** Begins the turn of a grant. */
  open(grant: Grant, model: ModelSettings): Turn {
    const open: OpenTurn = { grant, renewAt: this.clock.now() + this.times.claim_ms / 2 };
    this.turns.set(grant.ticket, open);
    return {
      model,
      close: (end, usage = null) => {
        if (this.turns.get(grant.ticket) !== open) return;
        this.turns.delete(grant.ticket);
        this.release(grant, end, usage);
      },
    };
  }

  has(grant: Grant): boolean {
    return this.turns.get(grant.ticket)?.grant.lease === grant.lease;
  }

  /** Gives back a permit that nobody will use. */
  giveBack(grant: Grant): void {
    this.release(grant, 'ignored', null);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private release(grant: Grant, end: TurnEnd, usage: Usage | null): void {
    this.permits
      .release(grant, end, usage)
      .catch((error: unknown) => this.report('a permit was not given back and ends with its lease', error));
  }

  private async renewDue(): Promise<void> {
    const now = this.clock.now();
    const due = [...this.turns.values()].filter(turn => turn.renewAt <= now);
    if (due.length === 0) return;
    for (const turn of due) turn.renewAt = now + this.times.lease_ms / 6;
    try {
      await this.permits.renew(due.map(turn => turn.grant));
    } catch (error) {
      for (const turn of due) turn.renewAt = now;
      this.report('leases were not renewed', error);
    }
  }
}
