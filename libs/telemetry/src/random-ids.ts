import { randomFillSync } from 'node:crypto';

const DIGITS = 32;
/** Drawn together: a call takes three ids, and `randomUUID` makes each of some twenty pieces. */
const DRAWN_BYTES = 1_024;

let drawn = '';
let used = 0;

/** 128 random bits as 32 hexadecimal digits. */
export function randomHex(): string {
  if (used === drawn.length) {
    drawn = randomFillSync(Buffer.allocUnsafe(DRAWN_BYTES)).toString('hex');
    used = 0;
  }
  return drawn.slice(used, (used += DIGITS));
}

/** A UUID of version 4. */
export function randomUuid(): string {
  const hex = randomHex();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
