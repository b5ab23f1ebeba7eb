import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readText } from '../read-text';
import { VectorCollections, type Handled, type StoreRequest } from './collections';

/** What only asks. */
const READS = /^GET |\/points\/(query|count)(\?|$)/;

/** A stand-in for Qdrant in experiments: its API as far as Spillway uses it, an exact search, and a journal of writes. */
export class VectorStore {
  private readonly collections = new VectorCollections();

  /** `journal`: the file of what was written; a store that starts again begins with it. */
  constructor(private readonly journal: string) {
    if (!existsSync(journal)) return;
    const lines = readFileSync(journal, 'utf8').split('\n');
    // The last line is empty, or was being written when the store died.
    for (const line of lines.slice(0, -1)) this.collections.handle(JSON.parse(line) as StoreRequest);
  }

  handle(request: StoreRequest): Handled {
    const handled = this.collections.handle(request);
    const isWrite = handled.status === 200 && !READS.test(`${request.method} ${request.url}`);
    if (isWrite) appendFileSync(this.journal, `${JSON.stringify(request)}\n`);
    return handled;
  }
}

/** Serves a store on a port of this machine; returns the port. */
export async function serveVectorStore(store: VectorStore, port: number): Promise<number> {
  const server = createServer((request, response) => {
    answer(store, request, response).catch((error: unknown) => {
      send(response, { status: 400, body: { status: { error: String(error) }, time: 0 } });
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function answer(store: VectorStore, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await readText(request);
  const { method = '', url = '' } = request;
  send(response, store.handle({ method, url, body: text ? (JSON.parse(text) as unknown) : undefined }));
}

function send(response: ServerResponse, { status, body }: Handled): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
