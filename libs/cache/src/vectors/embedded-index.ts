import { hash } from 'node:crypto';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Clock } from '@spillway/contracts';
import type { Logger } from '@spillway/telemetry';
import type { Change } from './change-records';
import { FolderInUse, IndexFiles } from './index-files';
import { inBytes } from './row-vectors';
import { VectorIndex, hasDirection, type Neighbour, type VectorEntry, type VectorPlace } from './vector-index';
import { VectorTable } from './vector-table';

interface EmbeddedIndexOptions {
  /** Whose vectors these are; those of another embedder are kept apart. */
  readonly embedder: string;
  /** Entries at most. */
  readonly entries: number;
  /** Where the index outlives the process; null: it does not. */
  readonly folder: string | null;
}

/** Raised whenever files change their meaning: older ones are then left alone. */
const VERSION = 1;

/** An index in this process: a flat scan of the place that is asked, on signs first and on bytes then. */
export class EmbeddedIndex extends VectorIndex implements OnModuleInit, OnApplicationShutdown {
  /** Made by the first vector, which tells the dimension. */
  private table: VectorTable | null = null;
  /** Whether any vector of this process had the dimension of the table, rather than only those of an earlier one. */
  private isCurrent = false;
  private files: IndexFiles | null = null;

  constructor(
    private readonly options: EmbeddedIndexOptions,
    private readonly clock: Clock,
    private readonly log: Pick<Logger, 'warn'>,
  ) {
    super();
  }

  /** Reads what an earlier process kept. Without its folder the index works on, in memory. */
  async onModuleInit(): Promise<void> {
    const { folder, embedder } = this.options;
    if (folder === null) return;
    const name = `vectors-${VERSION}-${hash('sha256', embedder).slice(0, 16)}`;
    const files = new IndexFiles(
      folder,
      name,
      () => this.live(),
      error => this.reportLoss(error),
    );
    try {
      await files.load(change => this.apply(change));
      this.files = files;
    } catch (error) {
      this.reportLoss(error);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.files?.close();
    this.files = null;
  }

  async search(place: VectorPlace, vector: Float32Array, limit: number, minScore: number): Promise<Neighbour[]> {
    if (this.table?.dimension !== vector.length || !hasDirection(vector)) return [];
    this.isCurrent = true;
    return this.table.search(place, vector, limit, minScore, this.clock.now());
  }

  async upsert(entries: readonly VectorEntry[]): Promise<void> {
    for (const { vector, ...entry } of entries) {
      if (!hasDirection(vector)) continue;
      this.change({ kind: 'set', entry: { ...entry, bytes: inBytes(vector) } });
      this.isCurrent = true;
    }
  }

  async delete(partition: string, ids: readonly string[]): Promise<void> {
    this.change({ kind: 'remove', partition, ids });
  }

  async clear(partition?: string): Promise<void> {
    this.change({ kind: 'clear', partition: partition ?? null });
  }

  async size(partition?: string): Promise<number> {
    if (this.table === null) return 0;
    return partition === undefined ? this.table.size : this.table.sizeOf(partition);
  }

  private change(change: Change): void {
    if (this.apply(change)) this.files?.append(change);
  }

  /** False where there is nothing to change: an entry that has expired, or whose dimension is not ours. */
  private apply(change: Change): boolean {
    switch (change.kind) {
      case 'set': {
        const { entry } = change;
        const now = this.clock.now();
        const dimension = entry.bytes.length;
        // The model behind the name has changed since the files were written.
        if (this.table?.dimension !== dimension && !this.isCurrent) this.table = null;
        this.table ??= new VectorTable(dimension, this.options.entries);
        if (entry.expiresAt <= now || dimension !== this.table.dimension) return false;
        this.table.set(entry, now);
        return true;
      }
      case 'remove':
        for (const id of change.ids) this.table?.remove(change.partition, id);
        return true;
      case 'clear':
        if (change.partition === null) this.table = null;
        else this.table?.clear(change.partition);
        return true;
      default:
        return change satisfies never;
    }
  }

  private live(): ReturnType<VectorTable['entries']> | [] {
    return this.table?.entries(this.clock.now()) ?? [];
  }

  private reportLoss(error: unknown): void {
    const reason = error instanceof FolderInUse ? error.message : ((error as NodeJS.ErrnoException).code ?? 'unknown');
    this.log.warn({ part: 'vector-index', reason }, 'the vector index is not kept on disk');
  }
}
