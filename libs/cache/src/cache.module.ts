import { Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { RedisConnections, RedisGuard } from '@spillway/redis';
import { Logger, Metrics } from '@spillway/telemetry';
import { CacheGenerations, MemoryGenerations } from './cache-generations';
import { CacheIdentities } from './cache-identities';
import { ExactCacheStage } from './exact-cache.stage';
import { ExactStore } from './exact-store';
import { FillCachesStage } from './fill-caches.stage';
import { LayeredStore } from './layered-store';
import { MemoryStore } from './memory-store';
import { OnlyIfCachedStage } from './only-if-cached.stage';
import { RedisGenerations } from './redis-generations';
import { RedisStore } from './redis-store';
import { SemanticCacheStage } from './semantic-cache.stage';
import { SimilarQuestions } from './similar-questions';
import { StaleIfErrorStage } from './stale-if-error.stage';
import { ReuseDesk } from './trust/reuse-desk';
import { TRUST } from './trust/trust.providers';
import { Embedder } from './vectors/embedder';
import { VectorIndex } from './vectors/vector-index';
import { VectorsModule } from './vectors/vectors.module';

/** What the answers kept in a process take at most, however few they are. */
const L1_BYTES = 128 * 1024 * 1024;

function memoryStore(config: ConfigStore, clock: Clock): MemoryStore {
  return new MemoryStore({ entries: config.current.cache.l1_entries, bytes: L1_BYTES }, clock);
}

function exactStore(
  near: MemoryStore,
  clock: Clock,
  connections: RedisConnections | null,
  guard: RedisGuard | null,
): ExactStore {
  if (connections === null || guard === null) return near;
  return new LayeredStore(near, new RedisStore(connections.get('commands'), guard, connections.prefix, clock));
}

function generations(connections: RedisConnections | null, guard: RedisGuard | null): CacheGenerations {
  if (connections === null || guard === null) return new MemoryGenerations();
  return new RedisGenerations(connections.get('commands'), guard, connections.prefix);
}

/** All tiers of the cache: in this process, in Redis and in Qdrant where they are configured. */
@Module({
  imports: [VectorsModule],
  providers: [
    { provide: MemoryStore, useFactory: memoryStore, inject: [ConfigStore, Clock] },
    { provide: ExactStore, useFactory: exactStore, inject: [MemoryStore, Clock, RedisConnections, RedisGuard] },
    { provide: CacheGenerations, useFactory: generations, inject: [RedisConnections, RedisGuard] },
    {
      provide: CacheIdentities,
      useFactory: (known: CacheGenerations, config: ConfigStore) =>
        new CacheIdentities(known, () => config.current.cache.share),
      inject: [CacheGenerations, ConfigStore],
    },
    {
      provide: SimilarQuestions,
      useFactory: (...parts: ConstructorParameters<typeof SimilarQuestions>) => new SimilarQuestions(...parts),
      inject: [Embedder, VectorIndex, Logger],
    },
    ...TRUST,
    {
      provide: SemanticCacheStage,
      useFactory: (...parts: ConstructorParameters<typeof SemanticCacheStage>) => new SemanticCacheStage(...parts),
      inject: [SimilarQuestions, ExactStore, ReuseDesk, Clock, Metrics],
    },
    {
      provide: ExactCacheStage,
      useFactory: (...parts: ConstructorParameters<typeof ExactCacheStage>) => new ExactCacheStage(...parts),
      inject: [ExactStore, CacheIdentities, Clock, Metrics],
    },
    {
      provide: StaleIfErrorStage,
      useFactory: (...parts: ConstructorParameters<typeof StaleIfErrorStage>) => new StaleIfErrorStage(...parts),
      inject: [ExactStore, Clock, Metrics],
    },
    {
      provide: FillCachesStage,
      useFactory: (store: ExactStore, questions: SimilarQuestions, clock: Clock, config: ConfigStore) =>
        new FillCachesStage(store, questions, clock, () => config.current.cache.max_item_bytes),
      inject: [ExactStore, SimilarQuestions, Clock, ConfigStore],
    },
    OnlyIfCachedStage,
  ],
  exports: [
    MemoryStore,
    CacheGenerations,
    ExactCacheStage,
    FillCachesStage,
    OnlyIfCachedStage,
    ReuseDesk,
    SemanticCacheStage,
    SimilarQuestions,
    StaleIfErrorStage,
    VectorsModule,
  ],
})
export class CacheModule {}
