import { Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { RedisConnections, RedisGuard } from '@spillway/redis';
import { Metrics } from '@spillway/telemetry';
import { CacheGenerations, MemoryGenerations } from './cache-generations';
import { ExactCacheStage } from './exact-cache.stage';
import { ExactStore } from './exact-store';
import { FillCachesStage } from './fill-caches.stage';
import { LayeredStore } from './layered-store';
import { MemoryStore } from './memory-store';
import { RedisGenerations } from './redis-generations';
import { RedisStore } from './redis-store';

/** What the answers kept in a process take at most, however few they are. */
const L1_BYTES = 128 * 1024 * 1024;

function exactStore(
  config: ConfigStore,
  clock: Clock,
  connections: RedisConnections | null,
  guard: RedisGuard | null,
): ExactStore {
  const near = new MemoryStore({ entries: config.current.cache.l1_entries, bytes: L1_BYTES }, clock);
  if (connections === null || guard === null) return near;
  return new LayeredStore(near, new RedisStore(connections.get('commands'), guard, connections.prefix, clock));
}

function generations(connections: RedisConnections | null, guard: RedisGuard | null): CacheGenerations {
  if (connections === null || guard === null) return new MemoryGenerations();
  return new RedisGenerations(connections.get('commands'), guard, connections.prefix);
}

/** The exact cache: in this process, and in Redis where one is configured. */
@Module({
  providers: [
    { provide: ExactStore, useFactory: exactStore, inject: [ConfigStore, Clock, RedisConnections, RedisGuard] },
    { provide: CacheGenerations, useFactory: generations, inject: [RedisConnections, RedisGuard] },
    {
      provide: ExactCacheStage,
      useFactory: (...parts: ConstructorParameters<typeof ExactCacheStage>) => new ExactCacheStage(...parts),
      inject: [ExactStore, CacheGenerations, Clock, Metrics],
    },
    {
      provide: FillCachesStage,
      useFactory: (store: ExactStore, clock: Clock, config: ConfigStore) =>
        new FillCachesStage(store, clock, () => config.current.cache.max_item_bytes),
      inject: [ExactStore, Clock, ConfigStore],
    },
  ],
  exports: [CacheGenerations, ExactCacheStage, FillCachesStage],
})
export class CacheModule {}
