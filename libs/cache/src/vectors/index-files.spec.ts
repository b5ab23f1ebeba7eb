import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { idOf } from '../../../../test/support/vectors';
import type { Change } from './change-records';
import { IndexFiles } from './index-files';
import type { TableEntry } from './vector-table';

const SHORT_LOG_BYTES = 20_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const entry = (name: string): TableEntry => ({
  partition: 'p',
  fingerprint: 'f',
  id: idOf(name),
  text: name,
  bytes: Int8Array.from({ length: 64 }, (_, index) => index - 32),
  expiresAt: 1,
});

/** A state of names, kept in files. */
async function opened(): Promise<{ state: Map<string, TableEntry>; files: IndexFiles; set: (name: string) => void }> {
  const state = new Map<string, TableEntry>();
  const apply = (change: Change): void => {
    if (change.kind === 'set') state.set(change.entry.text, change.entry);
  };
  const failed = (error: unknown): never => {
    throw error;
  };
  const files = new IndexFiles(folder, 'test', () => state.values(), failed, SHORT_LOG_BYTES);
  await files.load(apply);
  const set = (name: string): void => {
    state.set(name, entry(name));
    files.append({ kind: 'set', entry: entry(name) });
  };
  return { state, files, set };
}

describe('IndexFiles', () => {
  it('folds its log into a snapshot, again and again, while changes arrive', async () => {
    const first = await opened();
    for (let number = 0; number < 2000; number++) {
      first.set(String(number % 700));
      if (number % 100 === 0) await pause(110);
    }
    await first.files.close();
    const size = (extension: string): number => statSync(join(folder, `test.${extension}`)).size;
    expect(size('log')).toBeLessThan(SHORT_LOG_BYTES + size('snapshot'));
    expect(readdirSync(folder).sort()).toEqual(['test.log', 'test.snapshot']);

    const second = await opened();
    expect([...second.state.keys()].sort()).toEqual([...first.state.keys()].sort());
    expect(second.state.get('5')).toEqual(entry('5'));
    await second.files.close();
  });
});
