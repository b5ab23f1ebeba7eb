import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { Logger } from '@spillway/telemetry';
import { AlonePermits } from './alone-permits';
import { AdaptivePulse } from './adaptive/adaptive-pulse';
import { AdaptiveModule } from './adaptive/adaptive.module';
import { EffectiveLimits } from './adaptive/effective-limits';
import { QuotaSettings } from './limits';
import { LocalShare } from './local-share';
import { MemoryPermits } from './memory-permits';
import { Permits } from './permits';
import { TokenEstimator } from './estimation/token-estimator';
import { RedisPermits } from './redis-permits';
import type { PermitTimings } from './timings';
import { UseFollower } from './use-follower';

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
  logger: Logger,
): Permits {
  if (connections === null || guard === null || channels === null)
    return new MemoryPermits(settings, clock, timingsOf(config));
  return new RedisPermits({ connections, guard, channels, logger }, settings, clock, randomUUID(), timingsOf(config));
}

function localPermits(permits: Permits, share: LocalShare, clock: Clock, config: ConfigStore): Permits {
  return permits instanceof RedisPermits ? new AlonePermits(share, clock, timingsOf(config), permits) : permits;
}

function follower(
  permits: Permits,
  share: LocalShare,
  own: MemoryPermits,
  clock: Clock,
  guard: RedisGuard | null,
): UseFollower | null {
  if (guard === null || !(permits instanceof RedisPermits) || !(own instanceof AlonePermits)) return null;
  return new UseFollower(permits, share, own, clock, guard);
}

/**
 * The permits: shared through Redis where it is configured, else of this process alone. `MemoryPermits` are those that a
 * process falls back to.
 */
@Module({
  imports: [AdaptiveModule],
  providers: [
    TokenEstimator,
    AdaptivePulse,
    { provide: QuotaSettings, useExisting: EffectiveLimits },
    {
      provide: Permits,
      useFactory: permits,
      inject: [ConfigStore, QuotaSettings, Clock, RedisConnections, RedisGuard, RedisChannels, Logger],
    },
    { provide: LocalShare, useFactory: (settings: QuotaSettings) => new LocalShare(settings), inject: [QuotaSettings] },
    { provide: MemoryPermits, useFactory: localPermits, inject: [Permits, LocalShare, Clock, ConfigStore] },
    {
      provide: UseFollower,
      useFactory: follower,
      inject: [Permits, LocalShare, MemoryPermits, Clock, RedisGuard],
    },
  ],
  exports: [AdaptiveModule, LocalShare, MemoryPermits, Permits, QuotaSettings, TokenEstimator, UseFollower],
})
export class QuotaModule {}
