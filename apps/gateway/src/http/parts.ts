import { Inject, Injectable } from '@nestjs/common';
import { CacheHelpers } from '@spillway/cache';
import { RedisGuard } from '@spillway/redis';
import { Logger, Metrics } from '@spillway/telemetry';

export type PartState = 'ok' | 'lost';

/** The helpers that this process leans on, and whether each is there; a lost one degrades, it never stops. */
@Injectable()
export class Parts {
  constructor(
    @Inject(RedisGuard) private readonly redis: RedisGuard | null,
    private readonly helpers: CacheHelpers,
    private readonly metrics: Metrics,
    logger: Logger,
  ) {
    redis?.onStateChange(state => {
      if (state === 'lost')
        logger.error({ part: 'redis' }, 'lost: this process goes on with a queue and limits of its own');
      else logger.info({ part: 'redis' }, 'back');
    });
  }

  states(): Readonly<Record<string, PartState>> {
    return { ...(this.redis !== null && { redis: this.redis.state }), ...this.helpers.states() };
  }

  /** Brings the gauges up to date. */
  measure(): void {
    for (const [part, state] of Object.entries(this.states())) {
      this.metrics.serviceState(part, state === 'ok' ? 'closed' : 'open');
    }
  }
}
