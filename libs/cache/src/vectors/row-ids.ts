const ID_BYTES = 32;
const FIRST_SLOTS = 1024;
const EMPTY = -1;

/** Which row an id is in, by open addressing: a map of strings would take as much memory as a fifth of the vectors. */
export class RowIds {
  private ids = Buffer.alloc(ID_BYTES * FIRST_SLOTS);
  private slots = new Int32Array(FIRST_SLOTS).fill(EMPTY);
  private used = 0;

  /** The row of an id among those that `isOurs` accepts; undefined: none. */
  find(id: Buffer, isOurs: (row: number) => boolean): number | undefined {
    for (let slot = this.home(id); ; slot = this.after(slot)) {
      const row = this.slots[slot] ?? EMPTY;
      if (row === EMPTY) return undefined;
      if (this.isAt(row, id) && isOurs(row)) return row;
    }
  }

  /** Notes the id of a row that has none. */
  add(row: number, id: Buffer): void {
    if (2 * this.used >= this.slots.length) this.rehash();
    const offset = row * ID_BYTES;
    if (offset === this.ids.length) this.ids = Buffer.concat([this.ids, Buffer.alloc(this.room())]);
    id.copy(this.ids, offset);
    this.place(row);
    this.used++;
  }

  /** Forgets the id of a row; those behind it move up, so that no gap ends a search too early. */
  remove(row: number): void {
    let gap = this.home(this.bytes(row));
    while (this.slots[gap] !== row) gap = this.after(gap);
    for (let slot = this.after(gap); this.slots[slot] !== EMPTY; slot = this.after(slot)) {
      const home = this.home(this.bytes(this.slots[slot] ?? 0));
      const mask = this.slots.length - 1;
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
      this.slots[gap] = this.slots[slot] ?? EMPTY;
      gap = slot;
    }
    this.slots[gap] = EMPTY;
    this.used--;
  }

  /** The id of a row. */
  text(row: number): string {
    return this.bytes(row).toString('base64url');
  }

  /** Bytes to grow by: half as much again, in whole ids. */
  private room(): number {
    return ID_BYTES * Math.ceil(this.ids.length / ID_BYTES / 2);
  }

  private place(row: number): void {
    let slot = this.home(this.bytes(row));
    while (this.slots[slot] !== EMPTY) slot = this.after(slot);
    this.slots[slot] = row;
  }

  private rehash(): void {
    const rows = this.slots.filter(row => row !== EMPTY);
    this.slots = new Int32Array(2 * this.slots.length).fill(EMPTY);
    for (const row of rows) this.place(row);
  }

  private isAt(row: number, id: Buffer): boolean {
    return this.ids.compare(id, 0, ID_BYTES, row * ID_BYTES, (row + 1) * ID_BYTES) === 0;
  }

  private bytes(row: number): Buffer {
    return this.ids.subarray(row * ID_BYTES, (row + 1) * ID_BYTES);
  }

  /** Ids are hashes: their first bytes are as good as any. */
  private home(id: Buffer): number {
    return id.readUInt32LE(0) & (this.slots.length - 1);
  }

  private after(slot: number): number {
    return (slot + 1) & (this.slots.length - 1);
  }
}

/**
 * The bytes of an id.
 * @throws TypeError when it is no SHA-256 in base64url.
 */
export function bytesOfId(id: string): Buffer {
  const bytes = Buffer.from(id, 'base64url');
  if (bytes.length !== ID_BYTES) throw new TypeError('an id is a SHA-256 in base64url');
  return bytes;
}
