import type { QdrantClient } from '@qdrant/js-client-rest';

/** A collection with the name of ours that somebody else has made. */
class ForeignCollection extends Error {
  constructor(readonly kind: string) {
    super(kind);
    this.name = 'ForeignCollection';
  }
}

const CONFLICT = 409;

/**
 * Makes the collection and its payload indexes unless they are there; any number of processes may do so at once.
 * @throws ForeignCollection when its vectors are of another dimension
 */
export async function ensureCollection(client: QdrantClient, name: string, dimension: number): Promise<void> {
  const { exists } = await client.collectionExists(name);
  await (exists ? check(client, name, dimension) : create(client, name, dimension));
  // Also where the collection is there already: who made it may have ended before it came to them.
  await Promise.all([
    client.createPayloadIndex(name, {
      field_name: 'partition',
      field_schema: { type: 'keyword', is_tenant: true },
      wait: true,
    }),
    client.createPayloadIndex(name, { field_name: 'fingerprint', field_schema: { type: 'keyword' }, wait: true }),
    client.createPayloadIndex(name, { field_name: 'expires_at', field_schema: { type: 'float' }, wait: true }),
  ]);
}

/** Graphs within tenants only: a search over all of them never happens. */
async function create(client: QdrantClient, name: string, dimension: number): Promise<void> {
  try {
    await client.createCollection(name, {
      vectors: { size: dimension, distance: 'Cosine' },
      hnsw_config: { m: 0, payload_m: 16 },
    });
  } catch (error) {
    if (statusOf(error) !== CONFLICT) throw error;
  }
}

async function check(client: QdrantClient, name: string, dimension: number): Promise<void> {
  const { config } = await client.getCollection(name);
  const size = config.params.vectors?.size;
  if (size === dimension) return;
  const found = typeof size === 'number' ? `vectors of ${size}` : 'named vectors';
  throw new ForeignCollection(`a collection for ${found}, not ${dimension}`);
}

/** The status of an error of the client, where it is one of an answer. */
export function statusOf(error: unknown): unknown {
  return error instanceof Error && 'status' in error ? error.status : undefined;
}
