import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '@spillway/contracts';
import { until } from '../../../test/support/api-client';
import { modelAt } from '../../../test/support/upstream-models';
import { Providers } from './providers';

const BODY = '{"choices":[{"message":{"content":"pong"},"finish_reason":"stop"}]}';
const ANSWER = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

/** What is no HTTP, found at different places. */
const GARBLED = {
  'another protocol': 'SSH-2.0-OpenSSH_9.9\r\n',
  'lines that end otherwise': ANSWER.replaceAll('\r\n', '\n'),
  'a header with a zero byte': 'HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 2\r\n\r\n{}',
  'a chunk without a size': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
};

type Garbled = keyof typeof GARBLED;
type Behaviour = 'answer' | 'reset' | 'close' | 'half an answer' | 'begin an answer' | 'nothing yet' | Garbled;

let server: Server;
let providers: Providers;
let behaviours: Behaviour[];
let requests: Socket[];

/** A server below HTTP, because only there a socket can be broken at a chosen moment. */
function serve(socket: Socket): void {
  let received = '';
  socket.on('error', () => undefined);
  socket.on('data', data => {
    received += data.toString();
    const end = received.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? NaN);
    if (end < 0 || received.length < end + 4 + length) return;
    received = '';
    requests.push(socket);
    const behaviour = behaviours.shift() ?? 'answer';
    if (behaviour === 'answer') socket.write(ANSWER);
    else if (behaviour === 'reset') socket.resetAndDestroy();
    else if (behaviour === 'close') socket.end();
    else if (behaviour === 'half an answer') socket.write(ANSWER.slice(0, -5), () => socket.destroy());
    else if (behaviour === 'begin an answer') socket.write('HTTP/1.1 2', () => socket.destroy());
    else if (behaviour !== 'nothing yet') socket.write(GARBLED[behaviour]);
  });
}

beforeEach(async () => {
  requests = [];
  server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  providers = new Providers(new SystemClock(), { note: () => undefined });
});
afterEach(async () => {
  await providers.onApplicationShutdown();
  server.close();
});

async function ask(): Promise<string> {
  // A socket is free again only a moment after its answer.
  await sleep(10);
  const model = modelAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const options = { streaming: false, signal: new AbortController().signal, headers: {} };
  const answer = await providers.chat(model, { messages: [] }, options);
  for await (const part of answer.parts) return part.json;
  return '';
}

describe('the transport', () => {
  /** The clock of undici's own limits of time, which are 300 s unless they are switched off. */
  const { tick } = jest.requireActual<{ tick: (ms: number) => void }>('undici/lib/util/timers.js');

  it('has no limit of time of its own, before an answer nor within one (C18)', async () => {
    behaviours = ['nothing yet'];
    const answer = ask();
    await until(() => requests.length === 1);
    for (const piece of [ANSWER.slice(0, -5), ANSWER.slice(-5)]) {
      await sleep(20);
      // A limit begins to run with the first tick that sees it.
      for (const ms of [0, 1_000_000]) tick(ms);
      await sleep(20);
      requests[0]?.write(piece);
    }
    expect(await answer).toBe(BODY);
  });
});

describe('a socket that was used before', () => {
  it.each<[Behaviour]>([['reset'], ['close']])(
    'and ends by "%s" under a request is replaced by a fresh one, once',
    async behaviour => {
      behaviours = ['answer', behaviour, 'answer'];
      expect(await ask()).toBe(BODY);
      expect(await ask()).toBe(BODY);
      expect(requests).toHaveLength(3);
      expect(requests[1]).toBe(requests[0]);
      expect(requests[2]).not.toBe(requests[0]);
    },
  );

  it('is replaced once only', async () => {
    behaviours = ['answer', 'reset', 'reset', 'answer'];
    await ask();
    await expect(ask()).rejects.toMatchObject({ kind: 'network' });
    expect(requests).toHaveLength(3);
  });

  it.each<[Behaviour]>([['half an answer'], ['begin an answer']])(
    'and brings %s is not replaced: the work was done',
    async behaviour => {
      behaviours = ['answer', behaviour, 'answer'];
      await ask();
      await expect(ask()).rejects.toMatchObject({ kind: 'network' });
      expect(requests).toHaveLength(2);
    },
  );
});

it('a fresh socket that breaks is a failure of the upstream', async () => {
  behaviours = ['reset', 'answer'];
  await expect(ask()).rejects.toMatchObject({ kind: 'network' });
  expect(requests).toHaveLength(1);
});

it.each(Object.keys(GARBLED) as Garbled[])('%s is a failure of the upstream', async behaviour => {
  behaviours = [behaviour, 'answer'];
  await expect(ask()).rejects.toMatchObject({ kind: 'protocol' });
  expect(requests).toHaveLength(1);
});
