import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';

/** How long an answer waits for the rest of its request, milliseconds. */
const PATIENCE_MS = 500;

/**
 * Calls back when a request has arrived whole, what nobody has read of it being let go; after half a second in any case.
 * Many clients listen only when they have sent all, and take a connection that is closed meanwhile for a fault: they
 * would never see the refusal of a body that is too large, or of a key.
 */
export function afterBody(request: IncomingMessage, callback: () => void): void {
  const { 'content-length': bytes = '0', 'transfer-encoding': coding } = request.headers;
  if (request.complete || request.destroyed || (bytes === '0' && coding === undefined)) return callback();
  const ignore = finished(request, { writable: false }, () => {
    clearTimeout(timer);
    callback();
  });
  const timer = setTimeout(() => {
    ignore();
    callback();
  }, PATIENCE_MS);
  request.resume();
}
