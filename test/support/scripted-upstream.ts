import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGzip, type Gzip } from 'node:zlib';
import { matches, pause, piecesOf, type Step } from './upstream-step';

/** What the upstream saw of one request. */
interface SeenRequest {
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The client's port: equal ports are one socket. */
  readonly port: number;
  /** When its answer was sent or its socket closed; null: not yet. */
  closed_at: number | null;
  /** Whether the answer was sent to its end. */
  finished: boolean;
}

/** Steps in order, the last one repeated; or a function that chooses one for each request. */
export type Script = readonly Step[] | ((request: SeenRequest) => Step);

export interface Upstream {
  /** Without a path; a provider's base URL is this and `/v1`. */
  readonly url: string;
  readonly requests: SeenRequest[];
  /** Begins another script, and another list of requests. */
  script(script: Script): void;
  close(): Promise<void>;
}

/** Starts a provider that answers as its script says. */
export async function startUpstream(script: Script): Promise<Upstream> {
  let choose = chooser(script);
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    // A broken connection is what many scripts are about.
    answer(request, response, requests, seen => choose(seen)).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: next => {
      choose = chooser(next);
      requests.length = 0;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function chooser(script: Script): (request: SeenRequest) => Step {
  if (typeof script === 'function') return script;
  const entries = script.map(step => ({ step, used: 0 }));
  const inOrder = entries.filter(({ step }) => !step.match);
  return request => {
    const entry =
      entries.find(
        ({ step, used }) =>
          step.match && used < (step.times ?? Infinity) && matches(step.match, request.headers, request.body),
      ) ??
      inOrder.find(({ step, used }) => used < (step.times ?? 1)) ??
      inOrder.at(-1);
    if (!entry) return { status: 500, text: 'the script has no step for this request' };
    entry.used++;
    return entry.step;
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  requests: SeenRequest[],
  choose: (request: SeenRequest) => Step,
): Promise<void> {
  const seen = await see(request, response);
  requests.push(seen);
  const step = choose(seen);
  if (step.no_response === 'hang') return;
  if (step.no_response) return void request.socket.resetAndDestroy();
  if (step.ttfb_ms) await pause(step.ttfb_ms);
  if (response.destroyed) return;
  response.writeHead(step.status ?? 200, headersOf(step));
  if (step.keepalive_close_after_ms !== undefined) {
    setTimeout(() => request.socket.destroy(), step.keepalive_close_after_ms);
  }
  const gzip = step.gzip ? createGzip() : null;
  if (gzip) gzip.pipe(response);
  else response.flushHeaders();
  for await (const piece of piecesOf(step)) {
    for (const part of split(piece, step.split)) {
      if (response.destroyed) return;
      await write(gzip ?? response, response, part);
      if (gzip && step.sse) await flush(gzip);
      if (step.split) await setImmediate();
    }
  }
  if (step.end === 'hang') return;
  if (step.end === 'reset') {
    await pause(20);
    request.socket.resetAndDestroy();
  } else {
    (gzip ?? response).end();
  }
}

async function see(request: IncomingMessage, response: ServerResponse): Promise<SeenRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const seen: SeenRequest = {
    at: Date.now(),
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    body: Buffer.concat(pieces).toString(),
    port: request.socket.remotePort ?? 0,
    closed_at: null,
    finished: false,
  };
  response.once('close', () => {
    seen.closed_at = Date.now();
    seen.finished = response.writableFinished;
  });
  return seen;
}

function headersOf(step: Step): Record<string, string> {
  const isJson = step.json !== undefined || step.embed_ok;
  const headers: Record<string, string> = isJson ? { 'content-type': 'application/json' } : {};
  for (const [name, value] of Object.entries(step.headers ?? {})) {
    const date = /^@httpdate([+-]\d+)s$/.exec(value);
    headers[name] = date
      ? new Date(Date.now() + Number(date[1]) * 1000).toUTCString()
      : value.replace(/[^\t\x20-\x7e]/g, '?');
  }
  if (step.gzip) headers['content-encoding'] = 'gzip';
  return headers;
}

function* split(piece: Buffer, bytes: number | undefined): Generator<Buffer> {
  if (!bytes) return yield piece;
  for (let start = 0; start < piece.length; start += bytes) yield piece.subarray(start, start + bytes);
}

async function write(target: Writable, response: ServerResponse, bytes: Buffer): Promise<void> {
  if (target.write(bytes)) return;
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(target, 'drain', { signal }), once(response, 'close', { signal })]);
  waiting.abort();
}

async function flush(gzip: Gzip): Promise<void> {
  await new Promise<void>(resolve => gzip.flush(() => resolve()));
}
