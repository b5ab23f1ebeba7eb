import { ApiClient } from '../support/api-client';
import { completion } from '../support/model-answers';
import { ask, startWorld, type World } from '../support/world';

// Row 135, the key of a caller in an access log, is F01 in security.spec.ts.

let world: World;
let client: ApiClient;

beforeAll(async () => {
  world = await startWorld({ configuration: { passthrough: 'fallback' } });
  ({ client } = world);
});
afterAll(() => world.stop());

describe('row 136: a model’s name that is a path', () => {
  const names = [
    '../admin/status',
    '..%2f..%2fadmin',
    '/etc/passwd',
    'm-primary/../../x',
    'a?b=c',
    'http://127.0.0.1:1/x',
  ];

  it.each(names)('never becomes part of an address: %s', async name => {
    world.fallback.script([completion('pong')]);
    const reply = await client.send({ body: ask('hi', { model: name }) });
    expect([reply.status, world.fallback.requests.map(({ url }) => url)]).toEqual([200, ['/v1/chat/completions']]);
    expect(JSON.parse(world.fallback.requests[0]?.body ?? '')).toMatchObject({ model: name });
  });

  it.each(names)('finds nothing in the list of models: %s', async name => {
    const reply = await client.get(`/v1/models/${encodeURIComponent(name)}`, { authorization: 'Bearer KEY_A' });
    expect([reply.status, reply.body.error?.code]).toEqual([404, 'model_not_found']);
  });

  it('that nothing could be called is refused', async () => {
    for (const model of ['', ' ', '\u0000', '\ud800', 'x'.repeat(300), 7, null, ['m-primary'], { $ne: '' }]) {
      const reply = await client.send({ body: ask('hi', { model }) });
      expect([model, reply.status >= 400 && reply.status < 500]).toEqual([model, true]);
      expect(reply.body.error).toMatchObject({ type: 'invalid_request_error', param: 'model' });
    }
  });
});
