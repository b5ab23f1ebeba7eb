type Payload = Readonly<Record<string, unknown>>;

interface Point {
  readonly id: string;
  readonly vector: readonly number[];
  readonly payload: Payload;
}

interface Collection {
  readonly config: { readonly vectors: { readonly size: number; readonly distance: string } };
  readonly points: Map<string, Point>;
  readonly indexes: Map<string, unknown>;
}

interface Condition {
  readonly key: string;
  readonly match?: { readonly value: unknown };
  readonly range?: Readonly<Partial<Record<'gt' | 'gte' | 'lt' | 'lte', number>>>;
}

interface Filter {
  readonly must?: readonly Condition[];
}

export interface Handled {
  readonly status: number;
  readonly body: unknown;
}

interface Query {
  readonly query: readonly number[];
  readonly filter?: Filter;
  readonly limit: number;
  readonly score_threshold?: number;
  readonly with_payload?: readonly string[];
}

/** A request of Qdrant's API. */
export interface StoreRequest {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

/** What a Qdrant holds, and what it answers. */
export class VectorCollections {
  readonly all = new Map<string, Collection>();

  handle({ method, url, body }: StoreRequest): Handled {
    const path = new URL(url, 'http://any').pathname;
    const [, , name = '', ...rest] = path.split('/').map(decodeURIComponent);
    const collection = this.all.get(name);
    const operation = `${method} ${rest.join('/')}`;
    if (name === '') return ok({ collections: [...this.all.keys()].map(known => ({ name: known })) });
    if (operation === 'GET exists') return ok({ exists: collection !== undefined });
    if (operation === 'PUT ') return this.create(name, body as Collection['config']);
    if (collection === undefined) return failed(404, `Not found: Collection \`${name}\` doesn't exist!`);
    switch (operation) {
      case 'GET ':
        return ok(infoOf(collection));
      case 'PUT index': {
        const { field_name, field_schema } = body as { field_name: string; field_schema: unknown };
        collection.indexes.set(field_name, field_schema);
        return ok(COMPLETED);
      }
      case 'PUT points':
        return put(collection, (body as { points: Point[] }).points);
      case 'POST points/delete':
        return remove(collection, body as { points?: string[]; filter?: Filter });
      case 'POST points/count':
        return ok({ count: matching(collection, (body as { filter?: Filter }).filter).length });
      case 'POST points/query':
        return query(collection, body as Query);
      default:
        throw new Error(`this vector store does not know ${operation}`);
    }
  }

  private create(name: string, config: Collection['config']): Handled {
    if (this.all.has(name)) return failed(409, `Wrong input: Collection \`${name}\` already exists!`);
    this.all.set(name, { config, points: new Map(), indexes: new Map() });
    return ok(true);
  }
}

const COMPLETED = { operation_id: 0, status: 'completed' };

function ok(result: unknown): Handled {
  return { status: 200, body: { result, status: 'ok', time: 0.001 } };
}

function failed(status: number, error: string): Handled {
  return { status, body: { status: { error }, time: 0.001 } };
}

function put({ config, points }: Collection, added: readonly Point[]): Handled {
  const odd = added.find(({ vector }) => vector.length !== config.vectors.size);
  if (odd) return failed(400, `Vector dimension error: expected dim: ${config.vectors.size}, got ${odd.vector.length}`);
  for (const point of added) points.set(point.id, point);
  return ok({ operation_id: 0, status: 'acknowledged' });
}

function remove(collection: Collection, { points, filter }: { points?: string[]; filter?: Filter }): Handled {
  const ids = points ?? matching(collection, filter).map(({ id }) => id);
  for (const id of ids) collection.points.delete(id);
  return ok({ operation_id: 0, status: 'acknowledged' });
}

function query(collection: Collection, { query: asked, filter, limit, score_threshold, with_payload }: Query): Handled {
  const points = matching(collection, filter)
    .map(({ id, vector, payload }) => ({
      id,
      version: 0,
      score: cosine(asked, vector),
      payload: Object.fromEntries((with_payload ?? []).map(field => [field, payload[field]])),
    }))
    .filter(({ score }) => score >= (score_threshold ?? -1))
    .sort((left, right) => right.score - left.score)
    .slice(0, limit);
  return ok({ points });
}

function matching({ points }: Collection, filter: Filter = {}): Point[] {
  return [...points.values()].filter(({ payload }) => (filter.must ?? []).every(one => fits(payload[one.key], one)));
}

function fits(value: unknown, { match, range = {} }: Condition): boolean {
  if (match) return value === match.value;
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range;
  const number = Number(value);
  return number > gt && number >= gte && number < lt && number <= lte;
}

function cosine(left: readonly number[], right: readonly number[]): number {
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  return dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right));
}

function infoOf({ config, points, indexes }: Collection) {
  return {
    status: 'green',
    optimizer_status: 'ok',
    points_count: points.size,
    segments_count: 1,
    payload_schema: Object.fromEntries([...indexes.keys()].map(field => [field, { data_type: 'keyword', points: 0 }])),
    config: {
      params: { vectors: config.vectors },
      hnsw_config: { m: 0, ef_construct: 100, full_scan_threshold: 10_000 },
      optimizer_config: {
        deleted_threshold: 0.2,
        vacuum_min_vector_number: 1000,
        default_segment_number: 0,
        flush_interval_sec: 5,
      },
    },
  };
}
