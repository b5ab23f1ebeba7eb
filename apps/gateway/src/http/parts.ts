import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CacheHelpers } from '@spillway/cache';
import { RedisGuard } from '@spillway/redis';
import { Logger } from '@spillway/telemetry';

export type PartState = 'ok' | 'lost';

/** The helpers that this process leans on, and whether each is there; a lost one degrades, it never stops. */
@Injectable()
export class Parts implements OnApplicationBootstrap {
  constructor(
    @Inject(RedisGuard) private readonly redis: RedisGuard | null,
    private readonly helpers: CacheHelpers,
    private readonly logger: Logger,
  ) {
    redis?.onStateChange(state => {
      if (state === 'ok') {
        logger.info({ part: 'redis' }, 'back');
        void this.checkEviction();
      } else {
        const { reason } = redis;
        logger.error({ part: 'redis', reason }, 'lost: this process goes on with a queue and limits of its own');
      }
    });
  }

  onApplicationBootstrap(): void {
    void this.checkEviction();
  }

  states(): Readonly<Record<string, PartState>> {
    return { ...(this.redis !== null && { redis: this.redis.state }), ...this.helpers.states() };
  }

  /** What is evicted first may be a waiting call or the window of a limit, and nobody would know. */
  private async checkEviction(): Promise<void> {
    const policy = await this.redis?.evictionPolicy().catch(() => null);
    if (!policy?.startsWith('allkeys-')) return;
    const message = 'a full Redis would throw away waiting calls and limits: set maxmemory-policy to noeviction';
    this.logger.warn({ part: 'redis', maxmemory_policy: policy }, message);
  }
}
