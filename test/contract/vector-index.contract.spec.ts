import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SystemClock } from '@spillway/contracts';
import { EmbeddedIndex } from '../../libs/cache/src/vectors/embedded-index';
import { QdrantIndex } from '../../libs/cache/src/vectors/qdrant-index';
import type { VectorIndex } from '../../libs/cache/src/vectors/vector-index';
import { CapturedLog } from '../support/captured-log';
import { startFakeQdrant, type FakeQdrant } from '../support/fake-qdrant';
import { ManualClock } from '../support/manual-clock';
import { PLACE, entriesOf, idOf, near, randomFrom, randomVector } from '../support/vectors';

const DIMENSION = 64;

let fake: FakeQdrant;
const folder = mkdtempSync(join(tmpdir(), 'spillway-vectors-'));
let indexes = 0;

beforeAll(async () => {
  fake = await startFakeQdrant();
});

afterAll(async () => {
  await fake.close();
  rmSync(folder, { recursive: true });
});

const log = new CapturedLog();
const unique = (): string => `test-${process.pid}-${Date.now()}-${indexes++}`;
const embedded = (path: string | null) => async (clock: ManualClock) => {
  const index = new EmbeddedIndex({ embedder: unique(), entries: 5000, folder: path }, clock, log);
  await index.onModuleInit();
  return index;
};
const qdrant = (url: () => string) => async (clock: ManualClock) =>
  new QdrantIndex({ url: url(), collection: 'spillway', embedder: unique() }, clock, log, { deadlineMs: 10_000 });

const INDEXES: [string, (clock: ManualClock) => Promise<EmbeddedIndex | QdrantIndex>][] = [
  ['embedded, in memory', embedded(null)],
  ['embedded, in a folder', embedded(folder)],
  ['qdrant, checked on its API description', qdrant(() => fake.url)],
];
// A real server takes part where there is one; nothing is skipped, as what is not registered promises nothing.
const realUrl = process.env['QDRANT_URL'];
if (realUrl) INDEXES.push(['qdrant, a real server', qdrant(() => realUrl)]);

describe.each(INDEXES)('VectorIndex: %s', (_, make) => {
  let clock: ManualClock;
  let index: EmbeddedIndex | QdrantIndex;
  const random = randomFrom(1);
  const asked = randomVector(random, DIMENSION);

  beforeEach(async () => {
    clock = new ManualClock(new SystemClock().now());
    index = await make(clock);
  });

  afterEach(async () => {
    await index.clear();
    await index.onApplicationShutdown();
    if (fake.problems.length > 0) throw new Error(fake.problems.join('\n'));
  });

  const entry = entriesOf(asked, () => clock.time);
  const textsNear = async (of: VectorIndex, at = PLACE, minScore = 0.5): Promise<string[]> =>
    (await of.search(at, asked, 10, minScore)).map(({ text }) => text);
  /** Writes are not waited for. */
  const eventually = async (check: () => Promise<void>): Promise<void> => {
    for (let tries = 0; tries < 50; tries++) {
      try {
        return await check();
      } catch {
        await pause(20);
      }
    }
    await check();
  };

  it('finds nothing where nothing is', async () => {
    expect(await index.search(PLACE, asked, 5, 0)).toEqual([]);
    expect(await index.size()).toBe(0);
    expect(await index.size('elsewhere')).toBe(0);
  });

  it('finds what is near, nearest first, with its cosine', async () => {
    const cosines = [0.99, 0.6, 0.9, 0.75];
    await index.upsert(cosines.map(cosine => entry(`at ${cosine}`, { vector: near(asked, cosine, random) })));
    await eventually(async () => {
      const found = await index.search(PLACE, asked, 3, 0.7);
      expect(found.map(({ text }) => text)).toEqual(['at 0.99', 'at 0.9', 'at 0.75']);
      expect(found[0]?.id).toBe(idOf('at 0.99'));
      for (const { text, score } of found) expect(score).toBeCloseTo(Number(text.slice(3)), 2);
      expect(await index.search(PLACE, asked, 2, 0.7)).toHaveLength(2);
    });
  });

  it('calls the same vector 1, and never more', async () => {
    await index.upsert([entry('same', { text: '同样的问题 🚀' })]);
    await eventually(async () => {
      const [found] = await index.search(PLACE, asked, 1, 0.99);
      expect(found).toEqual({ id: idOf('same'), text: '同样的问题 🚀', score: expect.any(Number) as number });
      expect(found?.score).toBeGreaterThan(0.999);
      expect(found?.score).toBeLessThanOrEqual(1);
    });
  });

  it('looks only where partition and fingerprint are equal', async () => {
    await index.upsert([
      entry('here'),
      entry('other', { partition: idOf('q') }),
      entry('third', { fingerprint: idOf('g') }),
    ]);
    await eventually(async () => {
      expect(await textsNear(index)).toEqual(['here']);
      expect(await textsNear(index, { ...PLACE, partition: idOf('q') })).toEqual(['other']);
      expect(await textsNear(index, { ...PLACE, fingerprint: idOf('g') })).toEqual(['third']);
      expect(await textsNear(index, { partition: idOf('q'), fingerprint: idOf('g') })).toEqual([]);
      expect([await index.size(), await index.size(PLACE.partition)]).toEqual([3, 2]);
    });
  });

  it('keeps equal ids of two partitions apart, and one of a partition once', async () => {
    await index.upsert([entry('a'), entry('a', { partition: idOf('q'), text: 'of q' }), entry('a', { text: 'newer' })]);
    await index.upsert([entry('a', { text: 'newest', fingerprint: idOf('g') })]);
    await eventually(async () => {
      expect(await textsNear(index)).toEqual([]);
      expect(await textsNear(index, { ...PLACE, fingerprint: idOf('g') })).toEqual(['newest']);
      expect(await textsNear(index, { ...PLACE, partition: idOf('q') })).toEqual(['of q']);
      expect(await index.size()).toBe(2);
    });
  });

  it('never finds what has expired', async () => {
    await index.upsert([entry('brief', { expiresAt: clock.time + 1000 }), entry('gone', { expiresAt: clock.time })]);
    await eventually(async () => expect(await textsNear(index)).toEqual(['brief']));
    clock.time += 1000;
    expect(await textsNear(index)).toEqual([]);
  });

  it('forgets entries, partitions and everything', async () => {
    const q = { ...PLACE, partition: idOf('q') };
    const r = { ...PLACE, partition: idOf('r') };
    await index.upsert([entry('a'), entry('b'), entry('c', q), entry('d', r), entry('a', r)]);
    await eventually(async () => expect(await index.size()).toBe(5));
    await index.delete(PLACE.partition, [idOf('a'), idOf('never kept')]);
    await eventually(async () => expect(await textsNear(index)).toEqual(['b']));
    await index.clear(q.partition);
    await eventually(async () => {
      expect([await textsNear(index, q), await textsNear(index)]).toEqual([[], ['b']]);
      expect((await textsNear(index, r)).sort()).toEqual(['a', 'd']);
    });
    await index.clear();
    await eventually(async () => expect(await index.size()).toBe(0));
    await index.upsert([entry('again')]);
    await eventually(async () => expect(await textsNear(index)).toEqual(['again']));
  });

  it('refuses vectors without direction, and never compares those of another dimension', async () => {
    const bad = [[], Array(DIMENSION).fill(0), Array(DIMENSION).fill(NaN), Array(DIMENSION).fill(Infinity)];
    await index.upsert([
      entry('good'),
      ...bad.map((numbers, at) => entry(`bad ${at}`, { vector: Float32Array.from(numbers) })),
    ]);
    await eventually(async () => expect(await textsNear(index, PLACE, -1)).toEqual(['good']));
    for (const numbers of bad) expect(await index.search(PLACE, Float32Array.from(numbers), 5, -1)).toEqual([]);
    const other = randomVector(random, 2 * DIMENSION);
    expect(await index.search(PLACE, other, 5, -1)).toEqual([]);
    await index.upsert([entry('other', { vector: other })]);
    expect(await textsNear(index, PLACE, -1)).toEqual(['good']);
  });

  it('crosses no border: 1000 random pairs of partition and fingerprint', async () => {
    const places = Array.from({ length: 1000 }, () => ({
      partition: idOf(`p ${Math.floor(random() * 200)}`),
      fingerprint: idOf(`f ${Math.floor(random() * 200)}`),
    }));
    // Every question is the same: only the borders tell them apart.
    await index.upsert(places.map((at, number) => entry(`${number}`, at)));
    await eventually(async () => expect(await index.size()).toBe(places.length));
    for (const [number, at] of places.entries()) {
      const allowed = places.flatMap((other, index) =>
        other.partition === at.partition && other.fingerprint === at.fingerprint ? [String(index)] : [],
      );
      const found = await textsNear(index, at, -1);
      expect(found).toContain(String(number));
      expect(found.filter(text => !allowed.includes(text))).toEqual([]);
      const elsewhere = { partition: at.fingerprint, fingerprint: at.partition };
      expect(await textsNear(index, elsewhere, -1)).toEqual([]);
    }
  }, 60_000);
});
