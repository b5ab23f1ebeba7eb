import { createHash } from 'node:crypto';

/** A namespace of our own, as RFC 9562 asks for. */
const NAMESPACE = Buffer.from('6f1c0d1e4b7a5c3e9a2d8b5f7e3c1a90', 'hex');

/** The UUID of an entry (version 5): the same in every process, so that storing twice makes no second point. */
export function pointId(partition: string, id: string): string {
  const bytes = createHash('sha1')
    .update(NAMESPACE)
    .update(JSON.stringify([partition, id]))
    .digest()
    .subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
