import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { ApiClient, until } from '../support/api-client';
import { inputsOf } from '../support/case-data';
import { collectGarbage } from '../support/garbage';
import { completion } from '../support/model-answers';
import { ask, startWorld, type World } from '../support/world';

const KIND = 'abuse';

describe('F05 texts that are hard to count', () => {
  interface Input {
    readonly kind: 'repeat' | 'base64';
    readonly char?: string;
    readonly n: number;
  }
  let world: World;

  beforeAll(async () => {
    world = await startWorld({ model: { limits: { tpm: 100_000_000 }, headroom: 0 } });
    world.primary.script([completion('pong')]);
    await world.client.send({ body: ask('warm up') });
  });
  afterAll(() => world.stop());

  const textOf = ({ kind, char = '', n }: Input): string =>
    kind === 'repeat' ? char.repeat(n) : Buffer.alloc(n, '\x00\x10\x83\x10Q\x87 \x92').toString('base64').slice(0, n);

  it.each(
    inputsOf<Input>(KIND, 'F05').map(
      input => [`${input.n} of ${JSON.stringify(input.char ?? input.kind)}`, input] as const,
    ),
  )('are counted at once: %s', async (_, input) => {
    let busy = true;
    const slowest = { took: 0 };
    const watching = (async () => {
      while (busy) slowest.took = Math.max(slowest.took, (await world.client.get('/health')).took);
    })();
    const reply = await world.client.send({ body: ask(textOf(input)) });
    busy = false;
    await watching;
    expect([reply.status, reply.said]).toEqual([200, 'pong']);
    expect(reply.took).toBeLessThan(6_000);
    expect(slowest.took).toBeLessThan(4_000);
  });
});

describe('F07 clients that hold connections', () => {
  const PATIENCE = { headersMs: 400, requestMs: 600, checkEveryMs: 50 };
  let world: World;
  let client: ApiClient;
  const open: Socket[] = [];

  beforeAll(async () => {
    world = await startWorld({
      patience: PATIENCE,
      model: { limits: { inflight: 2 }, headroom: 0 },
      configuration: { server: { body_limit: 50_000 } },
    });
    ({ client } = world);
    world.primary.script([completion('pong')]);
  });
  afterEach(() => open.splice(0).forEach(socket => socket.destroy()));
  afterAll(() => world.stop());

  interface Held {
    readonly socket: Socket;
    readonly received: () => string;
    readonly closed: () => boolean;
  }

  async function hold(text: string): Promise<Held> {
    const socket = connect(Number(new URL(world.gateway.url).port), '127.0.0.1');
    open.push(socket);
    let received = '';
    socket.on('data', (piece: Buffer) => (received += piece.toString()));
    // Being thrown out is what these tests are about.
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    if (text !== '') socket.write(text);
    return { socket, received: () => received, closed: () => socket.closed };
  }

  const many = (count: number, text: string): Promise<Held[]> =>
    Promise.all(Array.from({ length: count }, () => hold(text)));
  const head = (more: string): string =>
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY_A\r\ncontent-type: application/json\r\n${more}\r\n`;

  it('by sending slowly, or nothing, are sent away and take nobody’s place', async () => {
    const slow = await many(60, `${head('content-length: 1000\r\n')}{`);
    const silent = await many(120, '');
    const halfHead = await many(20, 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n');
    const replies = await Promise.all(Array.from({ length: 5 }, () => client.send({ body: ask('ok?') })));
    expect(replies.map(({ status, took }) => [status, took < 3_000])).toEqual(replies.map(() => [200, true]));
    expect(await client.metric('spillway_queue_depth')).toBe(0);
    expect(await client.metric('spillway_model_inflight')).toBe(0);
    await until(() => [...slow, ...silent, ...halfHead].every(({ closed }) => closed()));
    expect(slow.filter(({ received }) => !received().startsWith('HTTP/1.1 408'))).toEqual([]);
  });

  it('by sending headers without end are told so', async () => {
    const flood = await many(10, `GET /livez HTTP/1.1\r\nhost: x\r\nx-flood: ${'x'.repeat(1_000_000)}\r\n\r\n`);
    await until(() => flood.every(({ closed }) => closed()));
    expect(flood.filter(({ received }) => !received().startsWith('HTTP/1.1 431'))).toEqual([]);
  });

  it.each([
    ['announced', `${head('content-length: 10000000\r\n')}${'x'.repeat(60_000)}`],
    ['unannounced', `${head('transfer-encoding: chunked\r\n')}ffff\r\n${'x'.repeat(0xffff)}\r\n`],
  ])('by sending bodies without end are refused at the limit and sent away: %s', async (_, text) => {
    const held = await hold(text);
    await until(() => held.closed());
    expect(held.received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(held.received()).toContain('request_too_large');
  });

  it('leave nothing behind', async () => {
    const descriptors = (): number => readdirSync('/dev/fd').length;
    await client.send({ body: ask('before') });
    const before = descriptors();
    const held = await many(50, `${head('content-length: 1000\r\n')}{`);
    await until(() => descriptors() >= before + 100);
    for (const { socket } of held) socket.destroy();
    await until(() => descriptors() <= before + 2);
    expect(await client.metric('spillway_model_inflight')).toBe(0);
  });
});

describe('F08 many calls', () => {
  it('leave no listener, no handle and no memory behind', async () => {
    const warnings: string[] = [];
    const warned = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', warned);
    const world = await startWorld();
    world.primary.script(() => completion('pong'));
    const heapAfter = async (calls: number): Promise<number> => {
      for (let done = 0; done < calls; done += 20) {
        await Promise.all(Array.from({ length: 20 }, (_, index) => world.client.send({ body: ask(`leak ${index}`) })));
      }
      world.primary.requests.length = 0;
      world.gateway.log.lines.length = 0;
      await collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = await heapAfter(300);
    const handles = process.getActiveResourcesInfo().length;
    const after = await heapAfter(900);
    const handlesAfter = process.getActiveResourcesInfo().length;
    process.off('warning', warned);
    await world.stop();
    expect(warnings).not.toContain('MaxListenersExceededWarning');
    expect(after - before).toBeLessThan(4_000_000);
    expect(handlesAfter).toBeLessThan(handles + 20);
  });
});
