import { Global, Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock, Recoveries } from '@spillway/contracts';
import { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { Canaries } from './canary/canaries';
import { HealthPulse } from './health-pulse';
import { HealthStore, MemoryHealthStore, RedisHealthStore } from './health-store';
import { ModelHealth } from './model-health';

function store(
  clock: Clock,
  connections: RedisConnections | null,
  guard: RedisGuard | null,
  channels: RedisChannels | null,
): HealthStore {
  if (connections === null || guard === null || channels === null) return new MemoryHealthStore(clock);
  return new RedisHealthStore({ connections, guard, channels });
}

function modelHealth(kept: HealthStore, config: ConfigStore, clock: Clock): ModelHealth {
  return new ModelHealth(kept, { breakerOf: name => config.current.models.get(name)?.breaker }, clock);
}

/**
 * The health of models: shared through Redis where it is configured, else of this process alone. Global, because the
 * quota asks which models come back by the port alone, without importing a lib of its own row.
 */
@Global()
@Module({
  providers: [
    Canaries,
    HealthPulse,
    { provide: HealthStore, useFactory: store, inject: [Clock, RedisConnections, RedisGuard, RedisChannels] },
    { provide: ModelHealth, useFactory: modelHealth, inject: [HealthStore, ConfigStore, Clock] },
    { provide: Recoveries, useExisting: ModelHealth },
  ],
  exports: [ModelHealth, Recoveries],
})
export class HealthModule {}
