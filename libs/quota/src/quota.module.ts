import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { AdaptivePulse } from './adaptive/adaptive-pulse';
import { AdaptiveModule } from './adaptive/adaptive.module';
import { EffectiveLimits } from './adaptive/effective-limits';
import { QuotaSettings } from './limits';
import { MemoryPermits } from './memory-permits';
import { Permits } from './permits';
import { TokenEstimator } from './estimation/token-estimator';
import { RedisPermits } from './redis-permits';
import type { PermitTimings } from './timings';

function timingsOf({ current }: ConfigStore): PermitTimings {
  return { leaseMs: current.scheduling.lease_ms, claimMs: current.scheduling.claim_ms };
}

function permits(
  config: ConfigStore,
  settings: QuotaSettings,
  clock: Clock,
  connections: RedisConnections | null,
  guard: RedisGuard | null,
  channels: RedisChannels | null,
): Permits {
  if (connections === null || guard === null || channels === null)
    return new MemoryPermits(settings, clock, timingsOf(config));
  return new RedisPermits({ connections, guard, channels }, settings, clock, randomUUID(), timingsOf(config));
}

/** The permits: shared through Redis where it is configured, else of this process alone. */
@Module({
  imports: [AdaptiveModule],
  providers: [
    TokenEstimator,
    AdaptivePulse,
    { provide: QuotaSettings, useExisting: EffectiveLimits },
    {
      provide: Permits,
      useFactory: permits,
      inject: [ConfigStore, QuotaSettings, Clock, RedisConnections, RedisGuard, RedisChannels],
    },
  ],
  exports: [AdaptiveModule, Permits, QuotaSettings, TokenEstimator],
})
export class QuotaModule {}
