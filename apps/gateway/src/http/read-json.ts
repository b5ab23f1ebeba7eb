import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { ClientGone, InvalidRequest, RequestTooLarge } from '@spillway/contracts';

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/**
 * The body of a request, read and parsed here because Fastify's own way costs more than all the rest of a request on
 * Node 20 (docs/adr/0009-bodies-are-read-by-hand.md).
 * @throws InvalidRequest, RequestTooLarge, or ClientGone when the caller left before its last byte.
 */
export async function readJson({ raw, headers }: FastifyRequest, mostBytes: number): Promise<unknown> {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) {
    throw new InvalidRequest('Send the body as JSON, with content-type: application/json.');
  }
  const text = await textOf(raw, mostBytes);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidRequest('The body is not valid JSON.');
  }
}

function textOf(source: IncomingMessage, mostBytes: number): Promise<string> {
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
    source.on('end', () => resolve((pieces.length === 1 ? pieces[0] : Buffer.concat(pieces, bytes))?.toString() ?? ''));
  });
}
