import { Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock, Recoveries } from '@spillway/contracts';
import { RedisConnections, RedisGuard } from '@spillway/redis';
import { Logger } from '@spillway/telemetry';
import { AdaptiveLimits } from './adaptive-limits';
import { AdaptiveStore, MemoryAdaptiveStore, RedisAdaptiveStore } from './adaptive-store';
import { EffectiveLimits, isAdaptive } from './effective-limits';
import { ServerLoads } from './server-loads';

function store(clock: Clock, connections: RedisConnections | null, guard: RedisGuard | null): AdaptiveStore {
  if (connections === null || guard === null) return new MemoryAdaptiveStore(clock);
  return new RedisAdaptiveStore(connections, guard);
}

function adaptiveLimits(kept: AdaptiveStore, config: ConfigStore): AdaptiveLimits {
  return new AdaptiveLimits(kept, {
    isConfigured: name => config.current.models.has(name),
    isAdaptive: name => {
      const model = config.current.models.get(name);
      return model !== undefined && isAdaptive(model);
    },
  });
}

function serverLoads(config: ConfigStore, clock: Clock, logger: Logger): ServerLoads {
  const loaded = () =>
    [...config.current.models.values()].flatMap(({ name, load_url }) =>
      load_url === undefined ? [] : [{ name, load_url }],
    );
  return new ServerLoads(loaded, clock, (problem, fields) => logger.warn(fields, problem));
}

/** The limits of models as they are now, made of what is configured and what is known of them. */
@Module({
  providers: [
    { provide: AdaptiveStore, useFactory: store, inject: [Clock, RedisConnections, RedisGuard] },
    { provide: AdaptiveLimits, useFactory: adaptiveLimits, inject: [AdaptiveStore, ConfigStore] },
    { provide: ServerLoads, useFactory: serverLoads, inject: [ConfigStore, Clock, Logger] },
    {
      provide: EffectiveLimits,
      useFactory: (...parts: ConstructorParameters<typeof EffectiveLimits>) => new EffectiveLimits(...parts),
      inject: [ConfigStore, AdaptiveLimits, ServerLoads, Clock, Recoveries],
    },
  ],
  exports: [AdaptiveLimits, EffectiveLimits],
})
export class AdaptiveModule {}
