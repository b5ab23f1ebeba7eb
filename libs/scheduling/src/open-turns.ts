import type { Clock, ModelSettings, Turn, TurnEnd, Usage } from '@spillway/contracts';
import type { Grant, Permits } from '@spillway/quota';
import { RedisUnavailable } from '@spillway/redis';
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

/** A permit that this process gives back. */
interface Return {
  readonly grant: Grant;
  readonly end: TurnEnd;
  readonly usage: Usage | null;
  /** Milliseconds since the epoch: its lease has ended by then. */
  readonly leaseEndsBy: number;
}

/** The turns of this process that are in use: keeps their leases and gives their permits back, each exactly once. */
export class OpenTurns {
  private readonly turns = new Map<string, OpenTurn>();
  private readonly timer: NodeJS.Timeout;
  /** What could not be given back while Redis was lost. */
  private late: Return[] = [];
  private tendedAt: number;
  private doubtUntil = -Infinity;

  constructor(
    private readonly permits: Pick<Permits, 'release' | 'renew'>,
    private readonly clock: Clock,
    private readonly times: LeaseTimes,
    private readonly report: Report,
  ) {
    // So a first renewal is at most three quarters of a claim away, and each further one a third of a lease.
    const periodMs = Math.min(times.lease_ms / 6, times.claim_ms / 4);
    this.timer = setInterval(() => this.tend(), periodMs).unref();
    this.tendedAt = clock.now();
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
        this.release({ grant, end, usage, leaseEndsBy: this.clock.now() + this.times.lease_ms });
      },
    };
  }

  /** Whether this process stood still so recently that a message may speak of a permit whose lease has ended since. */
  get mayBeStale(): boolean {
    this.noteStall();
    return this.clock.now() < this.doubtUntil;
  }

  has(grant: Grant): boolean {
    return this.turns.get(grant.ticket)?.grant.lease === grant.lease;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private tend(): void {
    this.noteStall();
    this.tendedAt = this.clock.now();
    const late = this.late;
    this.late = [];
    for (const one of late) this.release(one);
    void this.renewDue();
  }

  private noteStall(): void {
    const now = this.clock.now();
    if (now - this.tendedAt > this.times.claim_ms) this.doubtUntil = now + this.times.claim_ms;
  }

  private release(back: Return): void {
    this.permits.release(back.grant, back.end, back.usage).catch((error: unknown) => {
      const willEndByItself = back.leaseEndsBy <= this.clock.now();
      if (error instanceof RedisUnavailable && !willEndByItself) this.late.push(back);
      else this.report('a permit was not given back and ends with its lease', error);
    });
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
