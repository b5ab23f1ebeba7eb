import { RequestTooLarge } from '@spillway/contracts';
import { MemorySeedLines } from './seed-lines';
import { receiveLines } from './receive-lines';
import { linesOf } from './text-lines';

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

const LIMITS = { all: 1_000_000, line: 1_000 };

describe('a text of lines', () => {
  it.each([1, 2, 3, 7, 1_000])('is the same in pieces of %d bytes', async size => {
    const text = '\ufeff{"question":"防水吗"}\r\n\r\n  {"a":1}\n{"ü":"🙂"}';
    const lines = await all(linesOf(inPieces(text, size), LIMITS));
    expect(lines).toEqual(['{"question":"防水吗"}', '', '{"a":1}', '{"ü":"🙂"}']);
  });

  it.each([
    ['a text', `${'a\n'.repeat(600)}`, { all: 1_000, line: 1_000 }],
    ['a line', `${'a'.repeat(1_200)}`, { all: 10_000, line: 1_000 }],
  ])('is refused where it is too large: %s', async (_, text, limits) => {
    await expect(all(linesOf(inPieces(text, 100), limits))).rejects.toThrow(RequestTooLarge);
  });

  it('is kept line by line, and recognised again', async () => {
    const kept = new MemorySeedLines();
    const text = `${Array.from({ length: 5_000 }, (_, index) => `${index}`.padEnd(100, '.')).join('\n')}\n\n`;
    const received = await receiveLines('a', linesOf(inPieces(text, 999), LIMITS), kept);
    const again = await receiveLines('b', linesOf(inPieces(text, 10_000), LIMITS), kept);
    const other = await receiveLines('c', linesOf(inPieces(text.replace('4999', '5000'), 999), LIMITS), kept);
    expect(received.total).toBe(5_000);
    expect(again).toEqual(received);
    expect(other.digest).not.toBe(received.digest);
    expect((await kept.page('a', 4_998, 10)).map(line => line.slice(0, 4))).toEqual(['4998', '4999', '']);
  });

  it('that breaks off leaves nothing behind', async () => {
    const kept = new MemorySeedLines();
    async function* broken(): AsyncGenerator<string> {
      yield 'x'.repeat(300_000);
      throw new Error('gone');
    }
    await expect(receiveLines('a', broken(), kept)).rejects.toThrow('gone');
    expect(await kept.page('a', 0, 1)).toEqual([]);
  });
});
