import { RowIds, bytesOfId } from './row-ids';
import { RowVectors, type ByteVector } from './row-vectors';
import type { Neighbour, VectorPlace } from './vector-index';

/** What is kept of an entry. */
export interface TableEntry extends VectorPlace {
  readonly id: string;
  readonly text: string;
  readonly bytes: ByteVector;
  readonly expiresAt: number;
}

/** The rows at one place. */
interface Group extends VectorPlace {
  readonly rows: number[];
}

/** Entries that are looked at to find one that may go. */
const EVICTION_SAMPLE = 8;
/** Entries that are looked at by each insertion, to free what has expired. */
const SWEEP = 2;
/** Entries whose cosine is taken, of those with the nearest signs. */
const CANDIDATES = 96;

/**
 * Entries in numbered rows, bounded by their number. Each place has its own list of rows, so that a search never sees
 * an entry of another place.
 */
export class VectorTable {
  private readonly vectors: RowVectors;
  private readonly ids = new RowIds();
  private readonly partitions = new Map<string, Map<string, Group>>();
  private readonly groups: (Group | null)[] = [];
  /** Where a row is in its group. */
  private readonly positions: number[] = [];
  private readonly texts: string[] = [];
  private readonly expiries: number[] = [];
  private readonly free: number[] = [];
  private hand = 0;

  constructor(
    readonly dimension: number,
    private readonly most: number,
  ) {
    this.vectors = new RowVectors(dimension);
  }

  get size(): number {
    return this.groups.length - this.free.length;
  }

  sizeOf(partition: string): number {
    let size = 0;
    for (const { rows } of this.partitions.get(partition)?.values() ?? []) size += rows.length;
    return size;
  }

  /** The nearest of at least `minScore` that have not expired `now`. */
  search(place: VectorPlace, vector: Float32Array, limit: number, minScore: number, now: number): Neighbour[] {
    const group = this.partitions.get(place.partition)?.get(place.fingerprint);
    if (group === undefined) return [];
    const found: { row: number; score: number }[] = [];
    for (const row of this.vectors.nearest(group.rows, vector, Math.max(CANDIDATES, 4 * limit))) {
      const score = this.vectors.score(row, vector);
      if (score >= minScore && (this.expiries[row] ?? 0) > now) found.push({ row, score });
    }
    found.sort((left, right) => right.score - left.score);
    return found
      .slice(0, limit)
      .map(({ row, score }) => ({ id: this.ids.text(row), text: this.texts[row] ?? '', score: Math.min(score, 1) }));
  }

  set(entry: TableEntry, now: number): void {
    const id = bytesOfId(entry.id);
    this.removeBytes(entry.partition, id);
    for (let step = 0; step < SWEEP; step++) {
      const row = this.next();
      if (row !== null && (this.expiries[row] ?? 0) <= now) this.release(row);
    }
    if (this.size >= this.most) this.evict();
    const row = this.free.pop() ?? this.groups.length;
    const group = this.groupAt(entry);
    this.groups[row] = group;
    this.positions[row] = group.rows.push(row) - 1;
    this.texts[row] = entry.text;
    this.expiries[row] = entry.expiresAt;
    this.vectors.set(row, entry.bytes);
    this.ids.add(row, id);
  }

  remove(partition: string, id: string): void {
    this.removeBytes(partition, bytesOfId(id));
  }

  clear(partition: string): void {
    const rows = [...(this.partitions.get(partition)?.values() ?? [])].flatMap(group => group.rows);
    for (const row of rows) this.release(row);
  }

  /** What has not expired `now`, one at a time; entries may come and go meanwhile. */
  *entries(now: number): Generator<TableEntry> {
    for (let row = 0; row < this.groups.length; row++) {
      const group = this.groups[row];
      const expiresAt = this.expiries[row] ?? 0;
      if (!group || expiresAt <= now) continue;
      const { partition, fingerprint } = group;
      const text = this.texts[row] ?? '';
      yield { partition, fingerprint, id: this.ids.text(row), text, bytes: this.vectors.get(row), expiresAt };
    }
  }

  private removeBytes(partition: string, id: Buffer): void {
    const row = this.ids.find(id, row => this.groups[row]?.partition === partition);
    if (row !== undefined) this.release(row);
  }

  /** Lets go what expires first of a few at random, so that no place is spared. */
  private evict(): void {
    let victim: number | null = null;
    for (let seen = 0; seen < EVICTION_SAMPLE || victim === null; seen++) {
      const row = Math.floor(Math.random() * this.groups.length);
      if (!this.groups[row]) continue;
      if (victim === null || (this.expiries[row] ?? 0) < (this.expiries[victim] ?? 0)) victim = row;
    }
    this.release(victim);
  }

  /** Moves on; the row there, if it is in use. */
  private next(): number | null {
    if (this.groups.length === 0) return null;
    this.hand = (this.hand + 1) % this.groups.length;
    return this.groups[this.hand] ? this.hand : null;
  }

  private release(row: number): void {
    const group = this.groups[row];
    if (!group) return;
    this.ids.remove(row);
    const position = this.positions[row] ?? 0;
    const last = group.rows.pop() ?? row;
    if (last !== row) {
      group.rows[position] = last;
      this.positions[last] = position;
    }
    if (group.rows.length === 0) this.forget(group);
    this.groups[row] = null;
    this.texts[row] = '';
    this.free.push(row);
  }

  private groupAt({ partition, fingerprint }: VectorPlace): Group {
    let groups = this.partitions.get(partition);
    if (groups === undefined) this.partitions.set(partition, (groups = new Map()));
    let group = groups.get(fingerprint);
    if (group === undefined) groups.set(fingerprint, (group = { partition, fingerprint, rows: [] }));
    return group;
  }

  private forget({ partition, fingerprint }: Group): void {
    const groups = this.partitions.get(partition);
    groups?.delete(fingerprint);
    if (groups?.size === 0) this.partitions.delete(partition);
  }
}
