import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';

export interface CallbackRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly lookup: LookupFunction;
  readonly signal: AbortSignal;
}

export interface CallbackReply {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Posts once, on a connection of its own; redirects are not followed, and what the receiver says is not read. */
export function post({ url, headers, body, lookup, signal }: CallbackRequest): Promise<CallbackReply> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const length = String(Buffer.byteLength(body));
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage): void => {
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
      response.destroy();
    };
    const all = { 'content-type': 'application/json', 'content-length': length, 'user-agent': 'Spillway', ...headers };
    request(url, { method: 'POST', agent: false, headers: all, lookup, signal }, answered)
      .on('error', reject)
      .end(body);
  });
}
