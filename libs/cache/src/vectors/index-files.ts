import { open, mkdir, readFile, rename, rm, truncate, writeFile, appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeChanges, encodeChange, type Change } from './change-records';
import type { TableEntry } from './vector-table';

/** Milliseconds that a change waits for company; what a crash may lose. */
const FLUSH_AFTER_MS = 100;
/** The log is folded into a new snapshot when it is longer than this and than the snapshot. */
const SHORT_LOG_BYTES = 16 * 1024 * 1024;
/** Records written together; between two writes calls are served. */
const SNAPSHOT_SLICE = 500;

/**
 * An index on disk: a snapshot, and a log of the changes since. Every record carries its checksum, and replaying one
 * twice changes nothing, so that a crash at any point loses at most the last moments.
 */
export class IndexFiles {
  private pending: Buffer[] = [];
  private timer: NodeJS.Timeout | undefined;
  private work: Promise<void> = Promise.resolve();
  private logBytes = 0;
  private snapshotBytes = 0;
  private lost = false;

  /**
   * @param folder where the files are, made when missing
   * @param name what they begin with
   * @param live the entries of the index at the time of the call
   * @param onLoss told once when nothing more can be written
   */
  constructor(
    private readonly folder: string,
    private readonly name: string,
    private readonly live: () => Iterable<TableEntry>,
    private readonly onLoss: (error: unknown) => void,
    private readonly shortLogBytes: number = SHORT_LOG_BYTES,
  ) {}

  /**
   * Visits all changes that were kept, in order, and is then ready for more.
   * @throws FolderInUse, or an error of the file system
   */
  async load(visit: (change: Change) => void): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    await this.lock();
    this.snapshotBytes = await this.replay('snapshot', visit);
    // Left behind by a process that ended while it wrote a snapshot.
    const isOldLog = (await this.replay('log.old', visit)) > 0;
    this.logBytes = await this.replay('log', visit);
    await this.cutLog();
    if (!isOldLog) return;
    await this.writeSnapshot();
    await rm(this.path('log'), { force: true });
    this.logBytes = 0;
  }

  /** Keeps a change, soon. */
  append(change: Change): void {
    if (this.lost) return;
    this.pending.push(encodeChange(change));
    this.timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS).unref();
  }

  /** Writes what is pending and gives up the folder. */
  async close(): Promise<void> {
    this.flush();
    await this.work;
    await rm(this.path('lock'), { force: true });
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const bytes = Buffer.concat(this.pending.splice(0));
    this.work = this.work.then(() => this.write(bytes)).catch((error: unknown) => this.lose(error));
  }

  private async write(bytes: Buffer): Promise<void> {
    if (this.lost || bytes.length === 0) return;
    await appendFile(this.path('log'), bytes);
    this.logBytes += bytes.length;
    if (this.logBytes < Math.max(this.shortLogBytes, this.snapshotBytes)) return;
    // Changes from here on go to a new log, which is replayed after the snapshot, whichever of them that has seen.
    await rename(this.path('log'), this.path('log.old'));
    this.logBytes = 0;
    await this.writeSnapshot();
  }

  private async writeSnapshot(): Promise<void> {
    const file = await open(this.path('snapshot.new'), 'w');
    let written = 0;
    try {
      for (const slice of slicesOf(this.live())) {
        await file.appendFile(slice);
        written += slice.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(this.path('snapshot.new'), this.path('snapshot'));
    await rm(this.path('log.old'), { force: true });
    this.snapshotBytes = written;
  }

  private async replay(file: string, visit: (change: Change) => void): Promise<number> {
    return decodeChanges(await readIfThere(this.path(file)), visit);
  }

  /** A record that is cut off would hide those behind it. */
  private async cutLog(): Promise<void> {
    await truncate(this.path('log'), this.logBytes).catch(ignoreMissing);
  }

  /** Another process would write over ours; one that has ended, or whose id is ours now, does not. */
  private async lock(): Promise<void> {
    const owner = Number((await readIfThere(this.path('lock'))).toString());
    if (owner > 0 && owner !== process.pid && isAlive(owner)) throw new FolderInUse(owner);
    await writeFile(this.path('lock'), String(process.pid));
  }

  private lose(error: unknown): void {
    if (this.lost) return;
    this.lost = true;
    this.onLoss(error);
  }

  private path(extension: string): string {
    return join(this.folder, `${this.name}.${extension}`);
  }
}

/** Another process keeps its index in the same folder. */
export class FolderInUse extends Error {
  readonly code = 'folder_in_use';

  constructor(owner: number) {
    super(`process ${owner} uses this folder`);
    this.name = 'FolderInUse';
  }
}

function* slicesOf(entries: Iterable<TableEntry>): Generator<Buffer> {
  let records: Buffer[] = [];
  for (const entry of entries) {
    records.push(encodeChange({ kind: 'set', entry }));
    if (records.length < SNAPSHOT_SLICE) continue;
    yield Buffer.concat(records);
    records = [];
  }
  yield Buffer.concat(records);
}

async function readIfThere(path: string): Promise<Buffer> {
  return readFile(path).catch((error: unknown) => {
    ignoreMissing(error);
    return Buffer.alloc(0);
  });
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
