import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OpenApiCheck } from './openapi-check';
import { VectorCollections } from '../../apps/simulator/src/vector-store/collections';

/** How it behaves: as it should, or as in an outage. */
export type Mood = 'well' | 'hang' | 'refuse' | { readonly status: number; readonly error: string };

interface SeenByQdrant {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  readonly headers: IncomingMessage['headers'];
}

export interface FakeQdrant {
  readonly url: string;
  readonly requests: SeenByQdrant[];
  /** What did not fit Qdrant's published API description, in requests or in its own answers. */
  readonly problems: string[];
  readonly collections: VectorCollections;
  mood: Mood;
  close(): Promise<void>;
}

/** Reading the description takes longer than most tests: all servers of a file share it. */
let check: OpenApiCheck | undefined;

/** A server that speaks as much of Qdrant as the index needs, and checks both sides on the published description. */
export async function startFakeQdrant(): Promise<FakeQdrant> {
  check ??= new OpenApiCheck('qdrant-openapi-1.18.json');
  const described = check;
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      fake.problems.push(String(error));
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake: FakeQdrant = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    problems: [],
    collections: new VectorCollections(),
    mood: 'well',
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const { method = '', url = '', headers } = request;
    const seen: SeenByQdrant = { method, url, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    fake.requests.push(seen);
    if (fake.mood === 'hang') return;
    if (fake.mood === 'refuse') return void request.socket.resetAndDestroy();
    fake.problems.push(...described.request(seen));
    const { status, body } =
      fake.mood === 'well'
        ? fake.collections.handle(seen)
        : { status: fake.mood.status, body: { status: { error: fake.mood.error }, time: 0 } };
    fake.problems.push(...described.answer(seen, status, body));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  return fake;
}
