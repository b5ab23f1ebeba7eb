import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CapturedLog } from '../../../../test/support/captured-log';
import { ManualClock } from '../../../../test/support/manual-clock';
import { PLACE, entriesOf, idOf, near, randomFrom, randomVector } from '../../../../test/support/vectors';
import { EmbeddedIndex } from './embedded-index';

const DIMENSION = 64;
const random = randomFrom(7);
const asked = randomVector(random, DIMENSION);

let clock: ManualClock;
let log: CapturedLog;
let folder: string;

beforeEach(() => {
  clock = new ManualClock();
  log = new CapturedLog();
  folder = mkdtempSync(join(tmpdir(), 'spillway-index-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const entry = entriesOf(asked, () => clock.time);

async function started(
  more: { entries?: number; embedder?: string; folder?: string | null } = {},
): Promise<EmbeddedIndex> {
  const index = new EmbeddedIndex({ embedder: 'e', entries: 1000, folder, ...more }, clock, log);
  await index.onModuleInit();
  return index;
}

const textsIn = async (index: EmbeddedIndex, at = PLACE): Promise<string[]> =>
  (await index.search(at, asked, 100, -1)).map(({ text }) => text).sort();
const fileOf = (extension: string): string =>
  join(folder, readdirSync(folder).find(name => name.endsWith(`.${extension}`)) ?? `none.${extension}`);

describe('EmbeddedIndex', () => {
  it('finds among thousands what a full comparison finds', async () => {
    const index = await started({ folder: null, entries: 5000 });
    const vectors = Array.from({ length: 3000 }, () => randomVector(random, DIMENSION));
    await index.upsert(vectors.map((vector, number) => entry(String(number), { vector })));
    for (let number = 0; number < 200; number++) {
      const question = near(vectors[number] ?? asked, 0.8, random);
      const cosines = vectors.map(vector => vector.reduce((sum, value, at) => sum + value * (question[at] ?? 0), 0));
      const best = cosines.indexOf(Math.max(...cosines));
      const [found] = await index.search(PLACE, question, 1, 0.7);
      expect(found?.text).toBe(String(best));
      expect(found?.score).toBeCloseTo(cosines[best] ?? 0, 1);
    }
  });

  it('holds no more than it may; what expires soonest goes, from whichever place', async () => {
    const index = await started({ folder: null, entries: 100 });
    const old = { ...PLACE, partition: idOf('old') };
    await index.upsert(
      Array.from({ length: 50 }, (_, at) => entry(`o${at}`, { ...old, expiresAt: clock.time + 1000 })),
    );
    await index.upsert(Array.from({ length: 90 }, (_, at) => entry(`n${at}`)));
    expect(await index.size()).toBe(100);
    expect(await index.size(old.partition)).toBeLessThan(20);
    await index.upsert(Array.from({ length: 500 }, (_, at) => entry(`m${at}`)));
    expect(await index.size()).toBe(100);
    const kept = await textsIn(index);
    expect(kept).toHaveLength(await index.size(PLACE.partition));
    expect(new Set(kept).size).toBe(kept.length);
  });

  it('frees what has expired while others come', async () => {
    const index = await started({ folder: null });
    await index.upsert(Array.from({ length: 200 }, (_, at) => entry(`brief ${at}`, { expiresAt: clock.time + 10 })));
    clock.time += 10;
    await index.upsert(Array.from({ length: 200 }, (_, at) => entry(`new ${at}`)));
    expect(await index.size()).toBe(200);
  });

  it('stays whole under any mix of changes', async () => {
    const index = await started({ folder: null, entries: 64 });
    const kept = new Map<string, string>();
    for (let step = 0; step < 5000; step++) {
      const partition = idOf(`p${Math.floor(random() * 3)}`);
      const name = String(Math.floor(random() * 20));
      const key = `${partition} ${name}`;
      if (random() < 0.6) {
        await index.upsert([entry(name, { partition, text: String(step) })]);
        kept.set(key, String(step));
      } else if (random() < 0.97) {
        await index.delete(partition, [idOf(name)]);
        kept.delete(key);
      } else {
        await index.clear(partition);
        for (const other of kept.keys()) if (other.startsWith(partition)) kept.delete(other);
      }
      if (step % 50 > 0) continue;
      for (const at of [0, 1, 2].map(number => ({ ...PLACE, partition: idOf(`p${number}`) }))) {
        const texts = [...kept].filter(([other]) => other.startsWith(at.partition)).map(([, text]) => text);
        expect(await textsIn(index, at)).toEqual(texts.sort());
      }
    }
  });
});

describe('EmbeddedIndex on disk', () => {
  it('is there again after a restart, without what was deleted, cleared or has expired', async () => {
    const first = await started();
    const q = { ...PLACE, partition: idOf('q') };
    await first.upsert([
      entry('a'),
      entry('问题 🚀'),
      entry('gone'),
      entry('cleared', q),
      entry('brief', { expiresAt: clock.time + 5 }),
    ]);
    await first.delete(PLACE.partition, [idOf('gone')]);
    await first.clear(q.partition);
    await first.upsert([entry('later', q)]);
    const before = await first.search(PLACE, near(asked, 0.9, random), 1, 0);
    await first.onApplicationShutdown();
    clock.time += 5;
    const second = await started();
    expect(await textsIn(second)).toEqual(['a', '问题 🚀']);
    expect(await textsIn(second, q)).toEqual(['later']);
    expect(before[0]?.score).toBeGreaterThan(0.85);
    await second.clear();
    await second.onApplicationShutdown();
    expect(await (await started()).size()).toBe(0);
    expect(log.lines).toEqual([]);
  });

  it('loses only the record that a crash cut off, and goes on behind what is whole', async () => {
    const first = await started();
    await first.upsert([entry('a'), entry('b')]);
    await first.onApplicationShutdown();
    const bytes = readFileSync(fileOf('log'));
    for (const cut of [1, 11, 60, Math.floor(bytes.length / 2) - 1]) {
      writeFileSync(fileOf('log'), bytes);
      truncateSync(fileOf('log'), bytes.length - cut);
      const second = await started();
      expect(await textsIn(second)).toEqual(['a']);
      await second.upsert([entry('c')]);
      await second.onApplicationShutdown();
      const third = await started();
      expect(await textsIn(third)).toEqual(['a', 'c']);
      await third.onApplicationShutdown();
    }
  });

  it('does not take damaged bytes for entries', async () => {
    const first = await started();
    await first.upsert([entry('a'), entry('b')]);
    await first.onApplicationShutdown();
    const bytes = readFileSync(fileOf('log'));
    const at = bytes.length - 20;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
    writeFileSync(fileOf('log'), bytes);
    appendFileSync(fileOf('log'), Buffer.alloc(100));
    expect(await textsIn(await started())).toEqual(['a']);
  });

  it('survives a crash while it folded its log', async () => {
    const first = await started();
    await first.upsert([entry('a'), entry('b')]);
    await first.onApplicationShutdown();
    renameSync(fileOf('log'), fileOf('log').replace(/log$/, 'log.old'));
    writeFileSync(join(folder, 'half.snapshot.new'), 'half');
    const second = await started();
    expect(await textsIn(second)).toEqual(['a', 'b']);
    expect(readdirSync(folder).filter(name => name.endsWith('.old'))).toEqual([]);
    await second.delete(PLACE.partition, [idOf('a')]);
    await second.onApplicationShutdown();
    expect(await textsIn(await started())).toEqual(['b']);
  });

  it('keeps the vectors of another embedder apart', async () => {
    const first = await started();
    await first.upsert([entry('a')]);
    await first.onApplicationShutdown();
    expect(await (await started({ embedder: 'other' })).size()).toBe(0);
    expect(await (await started()).size()).toBe(1);
  });

  it('leaves a folder alone that another process uses, and says so', async () => {
    const first = await started();
    await first.upsert([entry('a')]);
    await first.onApplicationShutdown();
    writeFileSync(fileOf('log').replace(/log$/, 'lock'), String(process.ppid));
    const second = await started();
    await second.upsert([entry('b')]);
    expect(await textsIn(second)).toEqual(['b']);
    await second.onApplicationShutdown();
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]?.fields['reason']).toContain(`process ${process.ppid}`);
    rmSync(fileOf('lock'));
    expect(await textsIn(await started())).toEqual(['a']);
  });

  it('works in memory where it cannot write', async () => {
    writeFileSync(join(folder, 'a file'), '');
    const index = await started({ folder: join(folder, 'a file') });
    await index.upsert([entry('a')]);
    expect(await textsIn(index)).toEqual(['a']);
    await index.onApplicationShutdown();
    expect(log.lines).toHaveLength(1);
  });

  it('reports once that its folder is gone, and answers on', async () => {
    const index = await started();
    rmSync(folder, { recursive: true });
    for (const name of ['a', 'b']) {
      await index.upsert([entry(name)]);
      await new Promise(resolve => setTimeout(resolve, 150));
    }
    expect(await textsIn(index)).toEqual(['a', 'b']);
    await index.onApplicationShutdown();
    expect(log.lines.map(({ fields }) => fields)).toEqual([{ part: 'vector-index', reason: 'ENOENT' }]);
    mkdirSync(folder);
  });
});
