import { createHash } from 'node:crypto';
import type { SeedLines } from './seed-lines';

/** Lines go to where they are kept in portions of so many characters. */
const PORTION = 256 * 1024;
/** What a line counts beside its characters: no portion has more than four thousand of them, however short. */
const LINE = 64;

/** A text that was received whole. */
export interface ReceivedText {
  /** Lines that say something. */
  readonly total: number;
  /** The same for the same lines, and for no others. */
  readonly digest: string;
}

/** Keeps lines as they come. @throws what reading or keeping them throws; nothing of them is then kept. */
export async function receiveLines(id: string, source: AsyncIterable<string>, kept: SeedLines): Promise<ReceivedText> {
  const hash = createHash('sha256');
  let total = 0;
  let portion: string[] = [];
  let size = 0;
  try {
    for await (const line of source) {
      if (line !== '') total += 1;
      hash.update(line).update('\n');
      portion.push(line);
      size += line.length + LINE;
      if (size < PORTION) continue;
      await kept.append(id, portion);
      portion = [];
      size = 0;
    }
    if (portion.length > 0) await kept.append(id, portion);
  } catch (error) {
    await kept.drop(id).catch(() => undefined);
    throw error;
  }
  return { total, digest: hash.digest('hex') };
}
