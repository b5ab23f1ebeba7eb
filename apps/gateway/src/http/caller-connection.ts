import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClientGone, type CallController } from '@spillway/contracts';
import { randomHex, randomUuid } from '@spillway/telemetry';

const SAFE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const TRACE_PARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

/** The caller's request id if it is safe everywhere, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const offered = headers['x-request-id'];
  return typeof offered === 'string' && SAFE_REQUEST_ID.test(offered) ? offered : randomUuid();
}

/** The W3C trace that the call belongs to, or a new one: 32 hexadecimal digits. */
export function traceIdOf(headers: IncomingHttpHeaders): string {
  const parent = headers['traceparent'];
  const known = typeof parent === 'string' ? TRACE_PARENT.exec(parent)?.[1] : undefined;
  return known ?? randomHex();
}

/** Header values as single strings; names come in lower case. */
export function plainHeaders({ headers }: FastifyRequest): Readonly<Record<string, string | undefined>> {
  const cookies = headers['set-cookie'];
  // Node joins repeated headers, except these, which only servers send.
  const plain = cookies === undefined ? headers : { ...headers, 'set-cookie': cookies.join(', ') };
  return plain as Record<string, string | undefined>;
}

/** Milliseconds after which a caller that takes nothing of what waits for it is cut off. */
const UNREAD_MS = 60_000;

/** Aborts `call` when its caller leaves before the answer has been sent whole; resolves when it has left or has all. */
export async function watchCaller({ raw }: FastifyReply, call: CallController): Promise<void> {
  await new Promise<void>(resolve => whenOver(raw, resolve));
  if (!raw.writableFinished) call.abort(new ClientGone('The caller closed the connection.'));
}

/**
 * Calls back when an answer has been taken whole, or its caller has left. One that neither reads nor leaves is cut off,
 * as it would hold its turn and its answer for ever.
 */
export function whenOver(response: ServerResponse, callback: () => void, unreadMs = UNREAD_MS): void {
  const { socket } = response.req;
  if (response.closed || socket.destroyed) return callback();
  const over = (): void => {
    response.off('close', over);
    socket.off('close', over);
    callback();
  };
  response.once('close', over);
  // While it stands in line behind the answers to earlier requests of its connection it does not hear of the end.
  if (response.socket === null) socket.setMaxListeners(0).once('close', over);
  response.setTimeout(unreadMs, () => {
    if (socket.writableLength > 0) socket.destroy();
  });
}
