import { Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { Providers, ProvidersModule } from '@spillway/providers';
import { Logger } from '@spillway/telemetry';
import { CacheHelpers } from './cache-helpers';
import { EmbeddedIndex } from './embedded-index';
import { Embedder } from './embedder';
import { embedderOf } from './embedder-of';
import { QdrantIndex } from './qdrant-index';
import { VectorIndex } from './vector-index';

function vectorIndex(config: ConfigStore, embedder: Embedder, clock: Clock, log: Logger): VectorIndex {
  const { qdrant, cache } = config.current;
  const { url } = qdrant;
  if (url !== undefined) return new QdrantIndex({ ...qdrant, url, embedder: embedder.id }, clock, log);
  const { folder, vector_entries: entries } = cache;
  return new EmbeddedIndex({ embedder: embedder.id, entries, folder }, clock, log);
}

/** What turns questions into vectors and finds them again, as configured at the start. */
@Module({
  imports: [ProvidersModule],
  providers: [
    {
      provide: Embedder,
      useFactory: (config: ConfigStore, providers: Providers, log: Logger) =>
        embedderOf(config.current.embedding, providers, log),
      inject: [ConfigStore, Providers, Logger],
    },
    { provide: VectorIndex, useFactory: vectorIndex, inject: [ConfigStore, Embedder, Clock, Logger] },
    {
      provide: CacheHelpers,
      useFactory: (embedder: Embedder, index: VectorIndex) => new CacheHelpers([index.guard, embedder.guard]),
      inject: [Embedder, VectorIndex],
    },
  ],
  exports: [Embedder, VectorIndex, CacheHelpers],
})
export class VectorsModule {}
