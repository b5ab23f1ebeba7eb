import type { FastifyRequest } from 'fastify';
import { InvalidRequest, parseExactJson } from '@spillway/contracts';
import { readBody, type ReadBody } from './read-body';
import { receiptOf } from './repeat-lane';

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * The body of a request, read and parsed here because Fastify's own way costs more than all the rest of a request on
 * Node 20 (docs/adr/0009-bodies-are-read-by-hand.md).
 * @throws InvalidRequest, RequestTooLarge, or ClientGone when the caller left before its last byte.
 */
export async function readJson({ raw, headers }: FastifyRequest, mostBytes: number): Promise<unknown> {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) {
    throw new InvalidRequest('Send the body as JSON, with content-type: application/json.');
  }
  if (!/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')) {
    throw new InvalidRequest('Send the body as it is, without a content-encoding.', { param: 'content-encoding' });
  }
  const body = receiptOf(raw)?.body ?? (await new Promise<ReadBody>(resolve => readBody(raw, mostBytes, resolve)));
  if ('failure' in body) throw body.failure;
  const text = body.bytes.toString();
  try {
    return parseExactJson(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch {
    throw new InvalidRequest('The body is not valid JSON.');
  }
}
