import { hash } from 'node:crypto';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { QdrantClient } from '@qdrant/js-client-rest';
import { isJsonObject, type Clock } from '@spillway/contracts';
import type { Logger } from '@spillway/telemetry';
import { HelperGuard, type GuardOptions } from './helper-guard';
import { pointId } from './point-id';
import { ensureCollection, statusOf } from './qdrant-collection';
import { VectorIndex, hasDirection, type Neighbour, type VectorEntry, type VectorPlace } from './vector-index';

interface QdrantOptions {
  readonly url: string;
  readonly api_key?: string | undefined;
  /** What the names of its collections begin with. */
  readonly collection: string;
  /** Whose vectors these are; those of another embedder are in other collections. */
  readonly embedder: string;
}

/** Milliseconds that a request may go on unattended; who waits for it waits for the guard's deadline only. */
const REQUEST_MS = 5000;
const CLEAN_UP_EVERY_MS = 60_000;

const GUARD: Omit<GuardOptions, 'probe'> = {
  name: 'qdrant',
  deadlineMs: 200,
  failures: 3,
  probeEveryMs: 250,
  probeWhen: 'always',
};

const NOT_FOUND = 404;

type Filter = NonNullable<Parameters<QdrantClient['query']>[1]['filter']>;

/** An index in Qdrant, for all processes: a collection for each embedder and dimension, a tenant for each partition. */
export class QdrantIndex extends VectorIndex implements OnModuleInit, OnApplicationShutdown {
  override readonly guard: HelperGuard;
  private readonly client: QdrantClient;
  private readonly prefix: string;
  /** Collections that are known to be there, or are being made. */
  private readonly ready = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    { url, api_key: apiKey, collection, embedder }: QdrantOptions,
    private readonly clock: Clock,
    log: Pick<Logger, 'info' | 'warn'>,
    limits: Partial<GuardOptions> = {},
  ) {
    super();
    this.prefix = `${collection}-${hash('sha256', embedder).slice(0, 16)}-`;
    this.client = clientOf(url, apiKey);
    this.guard = new HelperGuard({ ...GUARD, probe: () => this.client.getCollections(), ...limits }, log);
  }

  onModuleInit(): void {
    this.timer = setInterval(() => void this.cleanUp(), CLEAN_UP_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.guard.close();
  }

  async search(place: VectorPlace, vector: Float32Array, limit: number, minScore: number): Promise<Neighbour[]> {
    if (!hasDirection(vector)) return [];
    const found = await this.tryTo([], async () => {
      const { points } = await this.in(vector.length, collection =>
        this.client.query(collection, {
          query: Array.from(vector),
          filter: this.livingAt(place),
          limit,
          score_threshold: minScore,
          with_payload: ['id', 'text'],
        }),
      );
      return points;
    });
    return found.flatMap(({ payload, score }) => {
      const { id, text } = isJsonObject(payload) ? payload : {};
      return typeof id === 'string' && typeof text === 'string' ? [{ id, text, score: Math.min(score, 1) }] : [];
    });
  }

  async upsert(entries: readonly VectorEntry[]): Promise<void> {
    const now = this.clock.now();
    const living = entries.filter(({ vector, expiresAt }) => expiresAt > now && hasDirection(vector));
    for (const dimension of new Set(living.map(({ vector }) => vector.length))) {
      const points = living.filter(({ vector }) => vector.length === dimension).map(pointOf);
      await this.tryTo(null, () =>
        this.in(dimension, collection => this.client.upsert(collection, { wait: false, points })),
      );
    }
  }

  async delete(partition: string, ids: readonly string[]): Promise<void> {
    const points = ids.map(id => pointId(partition, id));
    if (points.length > 0) await this.inAll(collection => this.client.delete(collection, { wait: false, points }));
  }

  async clear(partition?: string): Promise<void> {
    const filter = partition === undefined ? {} : inPartition(partition);
    await this.inAll(collection => this.client.delete(collection, { wait: false, filter }));
  }

  async size(partition?: string): Promise<number> {
    const filter = partition === undefined ? {} : inPartition(partition);
    const counts = await this.inAll(collection => this.client.count(collection, { filter, exact: true }));
    return counts.reduce((sum, { count }) => sum + count, 0);
  }

  /** Deletes what has expired; until then it is never found, but takes room. */
  async cleanUp(): Promise<void> {
    const filter: Filter = { must: [{ key: 'expires_at', range: { lte: this.clock.now() } }] };
    await this.inAll(collection => this.client.delete(collection, { wait: false, filter }));
  }

  /** Runs a request on the collection of a dimension, which is made when it is missing. */
  private async in<T>(dimension: number, request: (collection: string) => Promise<T>): Promise<T> {
    const collection = `${this.prefix}${dimension}`;
    let ready = this.ready.get(collection);
    if (ready === undefined) this.ready.set(collection, (ready = ensureCollection(this.client, collection, dimension)));
    let isReady = false;
    try {
      await ready;
      isReady = true;
      return await request(collection);
    } catch (error) {
      // It may have been deleted since: the next use looks again.
      if (!isReady || statusOf(error) === NOT_FOUND) this.ready.delete(collection);
      throw error;
    }
  }

  /** Runs a request on the collections of all dimensions. */
  private async inAll<T>(request: (collection: string) => Promise<T>): Promise<T[]> {
    return this.tryTo([], async () => {
      const { collections } = await this.client.getCollections();
      const ours = collections.filter(({ name }) => name.startsWith(this.prefix));
      return Promise.all(ours.map(({ name }) => request(name)));
    });
  }

  private async tryTo<T>(otherwise: T, use: () => Promise<T>): Promise<T> {
    return this.guard.run(use).catch(() => otherwise);
  }

  private livingAt({ partition, fingerprint }: VectorPlace): Filter {
    return {
      must: [
        { key: 'partition', match: { value: partition } },
        { key: 'fingerprint', match: { value: fingerprint } },
        { key: 'expires_at', range: { gt: this.clock.now() } },
      ],
    };
  }
}

function inPartition(partition: string): Filter {
  return { must: [{ key: 'partition', match: { value: partition } }] };
}

function pointOf({ partition, fingerprint, id, text, vector, expiresAt }: VectorEntry) {
  return {
    id: pointId(partition, id),
    vector: Array.from(vector),
    payload: { partition, fingerprint, id, text, expires_at: expiresAt },
  };
}

/** The client takes neither a path in an address nor a key over http without complaint: both go in another way. */
function clientOf(url: string, apiKey: string | undefined): QdrantClient {
  const { origin, pathname } = new URL(url);
  return new QdrantClient({
    url: origin,
    prefix: pathname.replace(/\/+$/, ''),
    headers: apiKey ? { 'api-key': apiKey } : {},
    timeout: REQUEST_MS,
    checkCompatibility: false,
  });
}
