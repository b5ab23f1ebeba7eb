import type { IncomingMessage } from 'node:http';
import { ClientGone, RequestTooLarge } from '@spillway/contracts';

/**
 * The bytes of a request's body.
 * @throws RequestTooLarge, or ClientGone when the caller left before the last byte.
 */
export function readBody(source: IncomingMessage, mostBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const tooLarge = (): void => {
      source.removeListener('data', take).pause();
      reject(new RequestTooLarge('The request is larger than this server takes.', { retryable: false }));
    };
    const take = (piece: Buffer): void => {
      bytes += piece.length;
      if (bytes <= mostBytes) pieces.push(piece);
      else tooLarge();
    };
    const gone = (): void => reject(new ClientGone('The caller closed the connection.'));
    if (Number(source.headers['content-length']) > mostBytes) return tooLarge();
    source.on('data', take).on('error', gone);
    source.on('end', () => resolve((pieces.length === 1 ? pieces[0] : undefined) ?? Buffer.concat(pieces, bytes)));
  });
}
