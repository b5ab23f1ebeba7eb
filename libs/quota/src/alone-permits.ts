import type { Clock, Observed, TurnEnd, Usage } from '@spillway/contracts';
import { AloneBook } from './alone-book';
import type { QuotaSettings } from './limits';
import { MemoryPermits } from './memory-permits';
import type { Grant } from './permits';
import type { RedisPermits } from './redis-permits';
import type { PermitTimings } from './timings';

/** The permits of a process that has lost Redis; they are booked there as soon as it is back. */
export class AlonePermits extends MemoryPermits {
  private readonly alone: AloneBook;

  constructor(
    share: QuotaSettings,
    clock: Clock,
    timings: PermitTimings,
    private readonly shared: Pick<RedisPermits, 'catchUp' | 'rebook' | 'release' | 'renew'>,
  ) {
    const alone = new AloneBook();
    super(share, clock, timings, alone);
    this.alone = alone;
  }

  override async release(grant: Grant, end: TurnEnd, usage: Usage | null, observed?: Observed): Promise<void> {
    const isTold = this.alone.isTold(grant.ticket);
    await super.release(grant, end, usage, observed);
    // Where that fails the lease there ends by itself.
    if (isTold) await this.shared.release(grant, end, usage).catch(() => undefined);
  }

  override async renew(grants: readonly Grant[]): Promise<void> {
    await super.renew(grants);
    await this.shared.renew(grants.filter(({ ticket }) => this.alone.isTold(ticket))).catch(() => undefined);
  }

  override async rebook(grant: Grant, tokens: number): Promise<void> {
    await super.rebook(grant, tokens);
    if (this.alone.isTold(grant.ticket)) await this.shared.rebook(grant, tokens).catch(() => undefined);
  }

  /**
   * Tells Redis what was admitted without it. Where an answer is lost calls that have ended count twice in their windows:
   * rather too much than too little.
   * @throws RedisUnavailable: it is told later.
   */
  async report(now: number): Promise<void> {
    const uses = this.alone.take(now);
    try {
      await this.shared.catchUp(uses, now);
    } catch (error) {
      this.alone.giveBack(uses);
      throw error;
    }
  }
}
