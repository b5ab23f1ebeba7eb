import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../../test/support/api-client';
import { whenOver } from './caller-connection';

const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
/** More than the buffers of two sockets hold. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);
const UNREAD_MS = 150;

let server: Server;
let caller: Socket;
let responses: ServerResponse[];
let over: boolean[];

beforeEach(async () => {
  responses = [];
  over = [];
  server = createServer((_request, response) => {
    const index = responses.push(response) - 1;
    over[index] = false;
    whenOver(response, () => (over[index] = true), UNREAD_MS);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  caller = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
});
afterEach(() => {
  caller.destroy();
  server.close();
});

async function send(requests: number): Promise<ServerResponse> {
  caller.write(REQUEST.repeat(requests));
  await until(() => responses.length === requests);
  const [first] = responses;
  if (first === undefined) throw new Error('there is a request');
  return first;
}

it('an answer is over when it has been taken, whatever time it needed to begin', async () => {
  caller.resume();
  const response = await send(1);
  await sleep(UNREAD_MS * 2);
  expect(over).toEqual([false]);
  response.end(LARGE);
  await until(() => over[0] === true && caller.bytesRead > LARGE.length);
  expect(caller.destroyed).toBe(false);
});

it('an answer is over when its caller leaves, also of one that stands in line', async () => {
  await send(12);
  expect(over).not.toContain(true);
  caller.destroy();
  await until(() => !over.includes(false));
});

it('an answer is over when its caller neither reads nor leaves', async () => {
  caller.pause();
  const response = await send(1);
  response.end(LARGE);
  await until(() => over[0] === true);
  caller.resume();
  await once(caller, 'close');
  expect(caller.bytesRead).toBeLessThan(LARGE.length);
});

it('a slow caller has all of it', async () => {
  const response = await send(1);
  response.end(LARGE);
  for (let count = 0; count < 8; count++) {
    caller.pause();
    await sleep(UNREAD_MS / 2);
    caller.resume();
    await sleep(2);
  }
  await until(() => over[0] === true && caller.bytesRead > LARGE.length);
  expect(caller.destroyed).toBe(false);
});
