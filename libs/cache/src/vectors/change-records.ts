import { crc32 } from 'node:zlib';
import type { TableEntry } from './vector-table';

/** One change of an index, as it is kept in a file. */
export type Change =
  | { readonly kind: 'set'; readonly entry: TableEntry }
  | { readonly kind: 'remove'; readonly partition: string; readonly ids: readonly string[] }
  /** `partition` null: everything. */
  | { readonly kind: 'clear'; readonly partition: string | null };

/** Length and CRC-32 of the payload, then the length of its head, which is JSON; the bytes of a vector follow. */
const PREFIX_BYTES = 12;

export function encodeChange(change: Change): Buffer {
  const { head, tail } = partsOf(change);
  const record = Buffer.alloc(PREFIX_BYTES + Buffer.byteLength(head) + tail.length);
  record.write(head, PREFIX_BYTES);
  record.set(tail, record.length - tail.length);
  record.writeUInt32LE(record.length - PREFIX_BYTES, 0);
  record.writeUInt32LE(Buffer.byteLength(head), 8);
  record.writeUInt32LE(crc32(record.subarray(8)), 4);
  return record;
}

/**
 * Reads the changes in a file's bytes and returns how many of the bytes hold whole records. What a crash cut off, and
 * all that follows something damaged, is left alone.
 */
export function decodeChanges(bytes: Buffer, visit: (change: Change) => void): number {
  let at = 0;
  while (at + PREFIX_BYTES <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    const end = at + PREFIX_BYTES + length;
    const headEnd = at + PREFIX_BYTES + bytes.readUInt32LE(at + 8);
    if (end > bytes.length || headEnd > end) break;
    if (crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) break;
    visit(changeOf(bytes.toString('utf8', at + PREFIX_BYTES, headEnd), bytes.subarray(headEnd, end)));
    at = end;
  }
  return at;
}

function partsOf(change: Change): { head: string; tail: Uint8Array } {
  if (change.kind !== 'set') return { head: JSON.stringify(change), tail: new Uint8Array() };
  const { bytes, ...head } = change.entry;
  return { head: JSON.stringify(head), tail: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) };
}

/** The checksum vouches that this is what was written. */
function changeOf(head: string, tail: Buffer): Change {
  const fields = JSON.parse(head) as Exclude<Change, { kind: 'set' }> | (Omit<TableEntry, 'bytes'> & { kind?: never });
  return fields.kind === undefined ? { kind: 'set', entry: { ...fields, bytes: new Int8Array(tail) } } : fields;
}
