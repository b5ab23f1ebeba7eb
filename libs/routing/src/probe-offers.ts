import { Injectable } from '@nestjs/common';
import { Clock } from '@spillway/contracts';
import { ModelHealth, type Finding } from '@spillway/health';

/** The probes that this process may make: each is offered to the next LOW call before a call is made up for it. */
@Injectable()
export class ProbeOffers {
  private readonly open = new Set<string>();

  constructor(
    private readonly health: ModelHealth,
    private readonly clock: Clock,
  ) {}

  offer(model: string): void {
    this.open.add(model);
  }

  /** Takes the probe of a model; false: none is offered. */
  take(model: string): boolean {
    return this.open.delete(model);
  }

  /** A probe that was taken is not made; it is due again soon. */
  giveBack(model: string): void {
    this.report(model, { kind: 'untold' });
  }

  /** A probe has told more than the call that it was; `failure`: 0 it passed, 1 it failed. */
  settle(model: string, failure: 0 | 1): void {
    this.report(model, { kind: 'counted', weight: failure });
  }

  private report(model: string, finding: Finding): void {
    const now = this.clock.now();
    this.health.report(model, {
      startedAt: now,
      at: now,
      finding,
      operation: this.health.recordOf(model).operation,
      retryAfterMs: null,
      latency: null,
    });
  }
}
