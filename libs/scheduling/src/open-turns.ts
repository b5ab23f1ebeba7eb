import type { Clock, ModelSettings, Turn, Usage } from '@spillway/contracts';
import { LeaseKeeper, TRAVEL_SPREAD_MS, type Grant, type Permits } from '@spillway/quota';
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
  /** Permits of calls that were broken off a moment ago. */
  private readonly lingering = new Set<() => void>();
  private isLeaving = false;

  constructor(
    private readonly permits: Pick<Permits, 'release' | 'renew'>,
    clock: Clock,
    { lease_ms: leaseMs, claim_ms: claimMs }: LeaseTimes,
    report: Report,
  ) {
    super(permits, clock, { leaseMs, claimMs }, report);
  }

  /**
   * Begins the turn of a grant. `guess`: what is counted where nobody was told what the call used. Where its caller has
   * left the model may be at it still, so its permit is kept for as long as that news may travel: another call in its place
   * could be one too many.
   */
  open(grant: Grant, model: ModelSettings, guess: () => Usage): Turn {
    const end = this.hold(grant);
    return {
      model,
      close: (how, usage = null, observed) => {
        const used = usage ?? guess();
        const giveBack = (): void => end(() => this.permits.release(grant, how, used, observed));
        if (how === 'ignored' && usage === null && !this.isLeaving) this.linger(giveBack);
        else giveBack();
      },
    };
  }

  /** No permit is kept any longer than its call. */
  leaveNow(): void {
    this.isLeaving = true;
    for (const giveBack of this.lingering) giveBack();
    this.lingering.clear();
  }

  private linger(giveBack: () => void): void {
    this.lingering.add(giveBack);
    setTimeout(() => {
      if (this.lingering.delete(giveBack)) giveBack();
    }, TRAVEL_SPREAD_MS);
  }
}
