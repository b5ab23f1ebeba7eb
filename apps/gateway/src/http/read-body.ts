import type { IncomingMessage } from 'node:http';
import { ClientGone, RequestTooLarge } from '@spillway/contracts';

/** What came of reading a body: all of its bytes, or why there are none. */
export type ReadBody = { readonly bytes: Buffer } | { readonly failure: RequestTooLarge | ClientGone };

/**
 * Reads the bytes of a request's body and calls back, once: at once where more are announced than `mostBytes`, else when
 * they have come, are too many, or will not come because the caller left before the last one. Not by a promise, which a
 * hit would have to wait for (docs/adr/0013-a-lane-for-repeated-requests.md).
 */
export function readBody(source: IncomingMessage, mostBytes: number, callback: (body: ReadBody) => void): void {
  const pieces: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const end = (body: ReadBody): void => {
    if (!isOver) callback(body);
    isOver = true;
  };
  const tooLarge = (): void => {
    source.removeListener('data', take).pause();
    end({ failure: new RequestTooLarge('The request is larger than this server takes.', { retryable: false }) });
  };
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes <= mostBytes) pieces.push(piece);
    else tooLarge();
  };
  if (Number(source.headers['content-length']) > mostBytes) return tooLarge();
  source.on('data', take);
  source.on('error', () => end({ failure: new ClientGone('The caller closed the connection.') }));
  source.on('end', () => end({ bytes: (pieces.length === 1 ? pieces[0] : undefined) ?? Buffer.concat(pieces, bytes) }));
}
