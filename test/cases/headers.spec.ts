import { request } from 'node:http';
import { inputsOf } from '../support/case-data';
import { completion } from '../support/model-answers';
import { ask, startWorld, type World } from '../support/world';

interface Input {
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
}

const SAFE_VALUE = /^[\x20-\x7e]*$/;

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** Sends header values that fetch would refuse to send. */
function send({ model, headers }: Input): Promise<{ status: number; headers: [string, string][]; text: string }> {
  return new Promise((resolve, reject) => {
    const url = `${world.gateway.url}/v1/chat/completions`;
    const sent = { authorization: 'Bearer KEY_A', 'content-type': 'application/json', ...headers };
    const call = request(url, { method: 'POST', headers: sent, agent: false }, response => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.entries(response.headersDistinct).flatMap(([name, values]) =>
            (values ?? []).map((value): [string, string] => [name, value]),
          ),
          text,
        });
      });
    });
    call.on('error', reject);
    call.end(JSON.stringify(ask('ping', { model })));
  });
}

describe('C25 names that headers cannot carry', () => {
  const inputs = inputsOf<Input>('headers', 'C25');

  it.each(inputs.map(input => [JSON.stringify(input.model), input] as const))('are harmless: %s', async (_, input) => {
    world.primary.script([completion('pong', { model: '模型\r\nx-evil: 1' })]);
    const reply = await send(input);
    expect(reply.status).toBe(input.model === 'm-primary' ? 200 : 404);
    expect(() => JSON.parse(reply.text) as unknown).not.toThrow();
    for (const [name, value] of reply.headers) {
      expect(name).not.toMatch(/^(x-evil|set-cookie)$/);
      expect(value).toMatch(SAFE_VALUE);
    }
  });

  it('are replaced as request ids', async () => {
    world.primary.script([completion('pong')]);
    const reply = await send({ model: 'm-primary', headers: { 'x-request-id': 'café-1' } });
    const id = reply.headers.find(([name]) => name === 'x-request-id')?.[1];
    expect(id).toMatch(/^[\da-f-]{36}$/);
    expect(world.primary.requests[0]?.headers['x-request-id']).toBe(id);
  });

  it('are encoded where they are configured', async () => {
    const model = inputs[0]?.model ?? '';
    const named = await startWorld({ configuration: { models: { [model]: { provider: 'primary' } } } });
    named.primary.script([completion('pong', { model: 'other\r\nx-evil: 1' })]);
    const reply = await named.client.send({ body: ask('ping', { model }) });
    await named.stop();
    expect([reply.status, reply.said]).toEqual([200, 'pong']);
    expect(decodeURIComponent(reply.headers.get('x-spillway-model') ?? '')).toBe(model);
    expect(reply.headers.has('x-evil')).toBe(false);
  });
});
