import { isUtf8 } from 'node:buffer';

const BEYOND_ASCII = /[\x80-\xff]/;

/** What a caller wrote into a header: Node reads its bytes as Latin-1, but what is UTF-8 was meant as that. */
export function headerText(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}
