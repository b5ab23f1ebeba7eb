import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { InvalidRequest, Journal } from '@spillway/contracts';
import { randomUuid } from '@spillway/telemetry';
import { requestIdOf } from './caller-connection';
import { asSpillwayError, sendError } from './error-responses';

/** The last word to a connection whose bytes are no request, or not in time; the connection ends with it. */
export function refuseConnection(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code !== 'ECONNRESET' && socket.writable) socket.write(farewellOf(error.code));
  socket.destroy(error);
}

/** An address that cannot be read as one: no route can be found for it. */
export function refuseAddress(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  sendError(reply, requestIdOf(request.headers), new Journal(), asSpillwayError(error));
}

function farewellOf(code: string | undefined): string {
  const [status, message] = reasonOf(code);
  const error = new InvalidRequest(message, { retryable: false });
  const body = JSON.stringify(error.body());
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `x-request-id: ${randomUuid()}`,
    `x-spillway-outcome: ${error.outcome}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

/** By Node's names. */
function reasonOf(code: string | undefined): [number, string] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'The request did not come in time.'];
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'The headers are larger than this server takes.'];
    default:
      return [400, 'This is no valid HTTP request.'];
  }
}
