import { once } from 'node:events';
import { connect } from 'node:net';
import { completion } from '../support/model-answers';
import { startWorld, type World } from '../support/world';

const MESSAGES = '"messages":[{"role":"user","content":"hello"}]';

let world: World;

beforeAll(async () => {
  world = await startWorld({ cache: true });
});
afterAll(() => world.stop());
beforeEach(() => world.primary.script([completion('pong')]));

describe('What Spillway does not know', () => {
  it.each([
    ['a whole number of 64 bits', '"seed":9223372036854775807'],
    ['a number beyond all others', '"max_tokens":1e400'],
    ['numbers inside', '"x_ids":[-12345678901234567890,{"y":9007199254740993}]'],
    ['numbers that are usual', '"temperature":0.25,"max_tokens":-1'],
    ['names with a meaning in JavaScript', '"constructor":{"prototype":1},"__proto__":{"stream":true}'],
    ['characters of all kinds', '"x":"é 漢字 🚀 \\u0000 \\\\ud83d"'],
  ])('reaches the model as it came: %s', async (_, field) => {
    const reply = await world.client.send({ body: `{"model":"m-primary",${MESSAGES},${field}}` });
    expect(reply.status).toBe(200);
    expect(world.primary.requests.at(-1)?.body).toBe(`{"model":"real-primary",${MESSAGES},${field}}`);
  });

  it('tells requests apart, however little they differ', async () => {
    const ask = (seed: string) => world.client.send({ body: `{"model":"m-primary",${MESSAGES},"seed":${seed}}` });
    await ask('9007199254740994');
    const caches = [await ask('9007199254740995'), await ask('9007199254740994')];
    expect(caches.map(({ headers }) => headers.get('x-spillway-cache'))).toEqual(['MISS', 'HIT']);
  });

  it('reaches the model as it came in a header too', async () => {
    const body = `{"model":"m-primary",${MESSAGES},"x":"in a header"}`;
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      'host: x',
      'authorization: Bearer KEY_A',
      'content-type: application/json',
      'x-feature: ü漢',
      `content-length: ${body.length}`,
      'connection: close',
    ];
    const socket = connect(Number(new URL(world.gateway.url).port), '127.0.0.1');
    socket.resume().write(`${head.join('\r\n')}\r\n\r\n${body}`);
    await once(socket, 'close');
    const value = world.primary.requests.at(-1)?.headers['x-feature'];
    expect(Buffer.from(String(value), 'latin1').toString()).toBe('ü漢');
  });
});

describe('A body', () => {
  it('may begin with a byte order mark', async () => {
    const reply = await world.client.send({ body: `\ufeff{"model":"m-primary",${MESSAGES}}` });
    expect(reply.said).toBe('pong');
  });

  it('that is compressed is refused for that', async () => {
    const reply = await world.client.send({ body: 'no JSON', headers: { 'content-encoding': 'gzip' } });
    expect([reply.status, reply.body.error]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_request', param: 'content-encoding' }),
    ]);
  });
});

describe('An answer', () => {
  it('that is nested without end is passed on, and harms nobody', async () => {
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const answer = `{"choices":[{"index":0,"message":{"role":"assistant","content":"deep"},"finish_reason":"stop"}],"x":${nested}}`;
    world.primary.script([{ headers: { 'content-type': 'application/json' }, text: answer }]);
    const request = { body: `{"model":"m-primary",${MESSAGES},"x":"nested"}` };
    const replies = [await world.client.send(request), await world.client.send(request)];
    expect(replies.map(({ raw }) => raw === answer)).toEqual([true, true]);
    expect(replies.map(({ headers }) => headers.get('x-spillway-cache'))).toEqual(['MISS', 'MISS']);
  });
});
