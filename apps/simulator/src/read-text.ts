import type { IncomingMessage } from 'node:http';

const MOST_BYTES = 64 * 1024 * 1024;

/** The body of a request as text; null: it is too large. Rejects when the caller leaves meanwhile. */
export function readText(request: IncomingMessage): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const blocks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (block: Buffer) => {
      bytes += block.length;
      if (bytes <= MOST_BYTES) blocks.push(block);
      else resolve(null);
    });
    request.once('end', () => resolve((blocks.length === 1 ? blocks[0] : Buffer.concat(blocks))?.toString() ?? ''));
    request.once('close', () => {
      if (!request.complete) reject(new Error('The caller left.'));
    });
  });
}
