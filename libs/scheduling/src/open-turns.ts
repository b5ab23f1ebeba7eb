import type { Clock, ModelSettings, Turn } from '@spillway/contracts';
import { LeaseKeeper, type Grant, type Permits } from '@spillway/quota';
import type { Report } from './report';

/** Milliseconds a permit is held without a sign of life of its owner. */
export interface LeaseTimes {
  /** After each renewal. */
  readonly lease_ms: number;
  /** From the grant until the first renewal. */
  readonly claim_ms: number;
}

/** The turns of this process that are in use: keeps their leases and gives their permits back, each exactly once. */
export class OpenTurns extends LeaseKeeper {
  constructor(
    private readonly permits: Pick<Permits, 'release' | 'renew'>,
    clock: Clock,
    { lease_ms: leaseMs, claim_ms: claimMs }: LeaseTimes,
    report: Report,
  ) {
    super(permits, clock, { leaseMs, claimMs }, report);
  }

  /** Begins the turn of a grant. */
  open(grant: Grant, model: ModelSettings): Turn {
    const end = this.hold(grant);
    return {
      model,
      close: (how, usage = null, observed) => end(() => this.permits.release(grant, how, usage, observed)),
    };
  }
}
