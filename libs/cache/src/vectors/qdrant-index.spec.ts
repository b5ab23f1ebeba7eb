import { setTimeout as pause } from 'node:timers/promises';
import { CapturedLog } from '../../../../test/support/captured-log';
import { startFakeQdrant, type FakeQdrant, type Mood } from '../../../../test/support/fake-qdrant';
import { ManualClock } from '../../../../test/support/manual-clock';
import { PLACE, entriesOf, randomFrom, randomVector } from '../../../../test/support/vectors';
import { pointId } from './point-id';
import { QdrantIndex } from './qdrant-index';

const asked = randomVector(randomFrom(3), 8);

let qdrant: FakeQdrant;
let clock: ManualClock;
let log: CapturedLog;
const made: QdrantIndex[] = [];

// The first check of each kind of request takes longer than the deadlines below.
beforeAll(async () => {
  qdrant = await startFakeQdrant();
  clock = new ManualClock();
  log = new CapturedLog();
  const index = indexWith({ deadlineMs: 30_000 });
  await index.upsert([entry('a')]);
  await index.search(PLACE, asked, 1, 0);
  await index.size();
  await indexWith({ deadlineMs: 30_000 }).search(PLACE, asked, 1, 0);
  for (const one of made.splice(0)) one.onApplicationShutdown();
  await qdrant.close();
});
beforeEach(async () => {
  qdrant = await startFakeQdrant();
  clock = new ManualClock();
  log = new CapturedLog();
});
afterEach(async () => {
  for (const index of made.splice(0)) index.onApplicationShutdown();
  await qdrant.close();
});

function indexWith(
  limits: ConstructorParameters<typeof QdrantIndex>[3] = {},
  more: { url?: string; api_key?: string; embedder?: string } = {},
): QdrantIndex {
  const index = new QdrantIndex({ url: qdrant.url, collection: 'shop', embedder: 'e', ...more }, clock, log, {
    deadlineMs: 5000,
    probeEveryMs: 60_000,
    ...limits,
  });
  made.push(index);
  return index;
}

const entry = entriesOf(asked, () => clock.time);
const sent = (method: string, path: RegExp) =>
  qdrant.requests.filter(seen => seen.method === method && path.test(seen.url));

describe('QdrantIndex', () => {
  it('makes a collection for each embedder and dimension, with a tenant for each partition', async () => {
    await indexWith().upsert([entry('a')]);
    await indexWith().upsert([entry('b'), entry('c', { vector: randomVector(randomFrom(4), 16) })]);
    await indexWith({}, { embedder: 'other' }).upsert([entry('d')]);
    const names = [...qdrant.collections.all.keys()];
    expect(names).toHaveLength(3);
    expect(names.every(name => /^shop-[0-9a-f]{16}-(8|16)$/.test(name))).toBe(true);
    const [first] = qdrant.collections.all.values();
    expect(first?.config).toEqual({ vectors: { size: 8, distance: 'Cosine' }, hnsw_config: { m: 0, payload_m: 16 } });
    expect(first?.indexes.get('partition')).toEqual({ type: 'keyword', is_tenant: true });
    expect([...(first?.indexes.keys() ?? [])].sort()).toEqual(['expires_at', 'fingerprint', 'partition']);
    expect(first?.points.size).toBe(2);
    expect(qdrant.problems).toEqual([]);
  });

  it('does not wait for writes, and filters on the place and the time', async () => {
    const index = indexWith();
    await index.upsert([entry('a')]);
    await index.search(PLACE, asked, 3, 0.9);
    expect(sent('PUT', /\/points\?/).map(({ url }) => new URL(url, qdrant.url).searchParams.get('wait'))).toEqual([
      'false',
    ]);
    expect(sent('POST', /\/points\/query/)[0]?.body).toMatchObject({
      limit: 3,
      score_threshold: 0.9,
      filter: {
        must: [
          { key: 'partition', match: { value: PLACE.partition } },
          { key: 'fingerprint', match: { value: PLACE.fingerprint } },
          { key: 'expires_at', range: { gt: clock.time } },
        ],
      },
    });
    expect(qdrant.problems).toEqual([]);
  });

  it('deletes what has expired', async () => {
    const index = indexWith();
    await index.upsert([entry('brief', { expiresAt: clock.time + 10 }), entry('long')]);
    clock.time += 10;
    expect(await index.size()).toBe(2);
    await index.cleanUp();
    expect(await index.size()).toBe(1);
    expect(qdrant.problems).toEqual([]);
  });

  it('looks for its collection again when somebody has deleted it', async () => {
    const index = indexWith();
    await index.upsert([entry('a')]);
    qdrant.collections.all.clear();
    expect(await index.search(PLACE, asked, 1, 0)).toEqual([]);
    await index.upsert([entry('b')]);
    expect((await index.search(PLACE, asked, 1, 0)).map(({ text }) => text)).toEqual(['b']);
    expect(log.lines).toEqual([]);
  });

  it('leaves a collection alone whose vectors are of another dimension, and says so once', async () => {
    await indexWith().upsert([entry('a')]);
    const [name = ''] = qdrant.collections.all.keys();
    qdrant.collections.all.clear();
    qdrant.collections.all.set(name, {
      config: { vectors: { size: 768, distance: 'Cosine' } },
      points: new Map(),
      indexes: new Map(),
    });
    const index = indexWith({ failures: 2 });
    for (let turn = 0; turn < 5; turn++) {
      expect(await index.search(PLACE, asked, 1, 0)).toEqual([]);
      await index.upsert([entry('b')]);
    }
    expect(qdrant.collections.all.get(name)?.points.size).toBe(0);
    expect(log.lines.map(({ fields }) => fields['reason'])).toEqual(['a collection for vectors of 768, not 8']);
  });

  it('knows paths in addresses and sends its key', async () => {
    await indexWith({}, { url: `${qdrant.url}/`, api_key: 'secret' }).size();
    expect(qdrant.requests.at(-1)?.headers['api-key']).toBe('secret');
    await indexWith({}, { url: `${qdrant.url}/behind/a/proxy/` }).size();
    expect(qdrant.requests.at(-1)?.url).toBe('/behind/a/proxy/collections');
  });

  it.each<[string, Mood]>([
    ['refuses', 'refuse'],
    ['hangs', 'hang'],
    [
      'knows another dimension',
      { status: 400, error: 'Wrong input: Vector dimension error: expected dim: 768, got 8' },
    ],
    ['knows no such collection', { status: 404, error: "Not found: Collection `shop` doesn't exist!" }],
    ['is overloaded', { status: 429, error: 'slow down' }],
    ['fails', { status: 500, error: 'panic' }],
  ])('misses while Qdrant %s, leaves it alone after some failures, and finds again', async (_, mood) => {
    const index = indexWith({ deadlineMs: 300, failures: 3, probeEveryMs: 30, probeWhen: 'lost' });
    await index.upsert([entry('a')]);
    qdrant.mood = mood;
    for (let turn = 0; turn < 10; turn++) {
      const start = performance.now();
      expect(await index.search(PLACE, asked, 1, 0)).toEqual([]);
      await index.upsert([entry('b')]);
      expect(await index.size()).toBe(0);
      expect(performance.now() - start).toBeLessThan(5000);
    }
    expect(index.guard.state).toBe('lost');
    expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
    expect(JSON.stringify(log.lines)).not.toContain('127.0.0.1');
    const atWork = qdrant.requests.filter(({ url }) => url !== '/collections').length;
    expect(await index.search(PLACE, asked, 1, 0)).toEqual([]);
    expect(qdrant.requests.filter(({ url }) => url !== '/collections')).toHaveLength(atWork);

    qdrant.mood = 'well';
    while (index.guard.state === 'lost') await pause(10);
    let found = await index.search(PLACE, asked, 1, 0);
    // A busy machine may miss the deadline once.
    for (let tries = 0; tries < 20 && found.length === 0; tries++) found = await index.search(PLACE, asked, 1, 0);
    expect(found.map(({ text }) => text)).toEqual(['a']);
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  it('finds a loss without traffic', async () => {
    const index = indexWith({ deadlineMs: 80, failures: 2, probeEveryMs: 20 });
    qdrant.mood = 'refuse';
    while (index.guard.state === 'ok') await pause(10);
    qdrant.mood = 'well';
    while (index.guard.state === 'lost') await pause(10);
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  it('is checked by a server that would notice', async () => {
    await fetch(`${qdrant.url}/collections/c`, { method: 'PUT', body: '{"vectors":{"size":"8","distance":"Cosine"}}' });
    await fetch(`${qdrant.url}/collections/c/points/query`, { method: 'POST', body: '{"query":[1],"filtre":{}}' });
    await fetch(`${qdrant.url}/collections/c/points/count`, {
      method: 'POST',
      body: '{"filter":{"must":[{"key":1}]}}',
    });
    await fetch(`${qdrant.url}/collections/c/exists?wait=true`);
    expect(qdrant.problems.some(problem => problem.startsWith('request'))).toBe(true);
    expect(qdrant.problems).toContain('request: unknown field filtre');
    expect(qdrant.problems).toContain('unknown parameter wait');
    expect(qdrant.problems.some(problem => problem.startsWith('request/filter'))).toBe(true);
  });
});

describe('pointId', () => {
  it('is a UUID of version 5, the same for the same entry and for no other', () => {
    expect(pointId('p', 'a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(pointId('p', 'a')).toBe(pointId('p', 'a'));
    expect(new Set([pointId('p', 'a'), pointId('p', 'b'), pointId('q', 'a'), pointId('pa', '')]).size).toBe(4);
  });
});
