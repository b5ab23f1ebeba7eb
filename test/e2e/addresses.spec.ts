import { connect } from 'node:net';
import { startWorld, type World } from '../support/world';

const LONG_NAME = 'm'.repeat(128);
const KEY = { authorization: 'Bearer KEY_A' };
const INVALID = { message: expect.any(String) as string, type: 'invalid_request_error', code: 'invalid_request' };

let world: World;

beforeAll(async () => {
  const model = { provider: 'primary' };
  world = await startWorld({
    configuration: { models: { 'maker/model-1': model, [LONG_NAME]: model }, admin: { key: 'ADMIN_KEY' } },
  });
});
afterAll(() => world.stop());

describe('The address of a model', () => {
  it.each(['maker/model-1', encodeURIComponent('maker/model-1'), LONG_NAME])('takes any name: %s', async name => {
    const reply = await world.client.get(`/v1/models/${name}`, KEY);
    expect([reply.status, reply.body.id]).toEqual([200, decodeURIComponent(name)]);
  });

  it('of which there is none is told so', async () => {
    const reply = await world.client.get('/low/v1/models/maker/model-2', KEY);
    expect([reply.status, reply.body.error?.code]).toEqual([404, 'model_not_found']);
  });
});

describe('A model is taken out of use and back', () => {
  const operate = async (path: string): Promise<readonly unknown[]> => {
    const { status, body } = await world.client.request('POST', path, { authorization: 'Bearer ADMIN_KEY' });
    const { state, pausedSince } = body as { readonly state?: string; readonly pausedSince?: string | null };
    return [status, state, pausedSince === null, body.error?.code];
  };

  it.each(['maker/model-1', encodeURIComponent('maker/model-1')])('by its name: %s', async name => {
    expect(await operate(`/admin/models/${name}/pause`)).toEqual([200, 'closed', false, undefined]);
    expect(await operate(`/admin/models/${name}/reset`)).toEqual([200, 'closed', false, undefined]);
    expect(await operate(`/admin/models/${name}/resume`)).toEqual([200, 'closed', true, undefined]);
  });

  it.each(['maker/pause', 'maker/model-1/explode', 'pause'])('but for what is none: %s', async rest => {
    expect(await operate(`/admin/models/${rest}`)).toEqual([404, undefined, false, 'not_found']);
  });
});

it('A call can be explained by the longest id that it may have', async () => {
  const id = 'r'.repeat(128);
  await world.client.send({ body: {}, headers: { 'x-request-id': id } });
  const reply = await world.client.get(`/admin/explain/${id}`, { authorization: 'Bearer ADMIN_KEY' });
  expect([reply.status, reply.body.error?.code]).toEqual([404, 'not_found']);
});

it('A job is cancelled by clients that announce a body and send none', async () => {
  const json = { ...KEY, 'content-type': 'application/json' };
  const reply = await world.client.request('DELETE', '/v1/jobs/call_unknown', json);
  expect([reply.status, reply.body.error?.code]).toEqual([404, 'not_found']);
});

describe('A method that an address does not take', () => {
  it.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['PUT', '/low/v1/chat/completions?x=1', 'POST'],
    ['POST', '/v1/models/maker/model-1', 'GET, HEAD'],
    ['PATCH', '/v1/jobs/call_unknown', 'DELETE, GET, HEAD'],
    ['POST', '/admin/status/', 'GET, HEAD'],
    ['OPTIONS', '/readyz', 'GET, HEAD'],
  ])('is refused with those it takes: %s %s', async (method, path, methods) => {
    const reply = await world.client.request(method, path, { 'content-type': 'text/unknown' });
    expect(reply.status).toBe(405);
    expect(reply.body.error).toMatchObject({
      type: 'invalid_request_error',
      param: null,
      code: 'method_not_supported',
    });
    expect(reply.headers.get('allow')?.split(', ').sort().join(', ')).toBe(methods);
    expect(reply.headers.get('x-should-retry')).toBe('false');
  });

  it('is not spoken of where there is nothing', async () => {
    const reply = await world.client.request('POST', '/chat/completions');
    expect([reply.status, reply.body.error?.code, reply.headers.get('allow')]).toEqual([404, 'not_found', null]);
  });
});

it('An address that cannot be read is refused as other requests are', async () => {
  const reply = await world.client.get('/v1/%ff', { ...KEY, 'x-request-id': 'unreadable' });
  expect(reply.status).toBe(400);
  expect(reply.body.error).toEqual({ ...INVALID, param: null });
  expect(reply.headers.get('x-request-id')).toBe('unreadable');
});

describe('A connection', () => {
  it.each([
    ['that speaks no HTTP', 400, 'HELLO\r\n\r\n'],
    ['with a body of no length', 400, 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n'],
    ['with headers without end', 431, `GET /livez HTTP/1.1\r\nhost: x\r\nx-flood: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('%s is told so in words that clients know, and ended', async (_, status, sent) => {
    const received = await new Promise<string>(resolve => {
      let text = '';
      const socket = connect(Number(new URL(world.gateway.url).port), '127.0.0.1');
      socket.on('data', (piece: Buffer) => (text += piece.toString()));
      // What was not read of the request makes the end a reset.
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
      socket.write(sent);
    });
    const [head = '', body = ''] = received.split('\r\n\r\n');
    expect(head.split(' ')[1]).toBe(String(status));
    expect(head).toMatch(/^x-request-id: [\w-]+$/m);
    expect(JSON.parse(body)).toEqual({ error: { ...INVALID, param: null } });
  });
});
