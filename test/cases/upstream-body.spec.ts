import type { ApiClient } from '../support/api-client';
import { inputsOf } from '../support/case-data';
import { completion, stream } from '../support/model-answers';
import type { Step } from '../support/upstream-step';
import { ask, startWorld, type World } from '../support/world';

const KIND = 'upstream-body';

let world: World;
let client: ApiClient;

beforeAll(async () => {
  world = await startWorld({ cache: true, model: { idle_timeout_ms: 450, timeout_ms: 2_000 } });
  ({ client } = world);
});
afterAll(() => world.stop());

const stepsOf = (id: string): Step[] => inputsOf<{ step: Step }>(KIND, id).map(({ step }) => step);

describe('C12 a web page as an error', () => {
  it.each([false, true])('becomes an error in JSON that shows nothing of it, streaming: %s', async streaming => {
    world.primary.script(stepsOf('C12'));
    const request = {
      body: ask(`page ${streaming}`, { model: 'alone' }),
      headers: { 'x-request-id': `page-${streaming}` },
    };
    const reply = await (streaming ? client.stream(request) : client.send(request));
    expect(reply.status).toBe(502);
    expect(reply.headers.get('content-type')).toContain('application/json');
    expect(reply.body.error).toMatchObject({ code: 'upstream_error', type: 'api_error', param: null });
    expect(reply.raw).not.toMatch(/<html|sk-secret|nginx/);
    const explained = (await client.get(`/admin/explain/page-${streaming}`)).raw;
    expect(JSON.parse(explained)).toMatchObject({
      decisions: expect.arrayContaining([
        expect.objectContaining({ kind: 'attempt', model: 'primary', status: '502' }),
      ]),
    });
    expect(explained).not.toMatch(/<html|sk-secret|nginx/);
  });

  it('moves on to the next model, and its status is counted', async () => {
    world.primary.script(stepsOf('C12'));
    world.fallback.script([completion('from fallback'), stream('from fallback')]);
    const before = await client.metric('ai_request_total', { model: 'primary', status: '502' });
    expect((await client.send({ body: ask('page, whole') })).said).toBe('from fallback');
    expect((await client.stream({ body: ask('page, streamed') })).said).toBe('from fallback');
    expect(await client.metric('ai_request_total', { model: 'primary', status: '502' })).toBe(before + 2);
  });
});

describe('C15 white space before the body', () => {
  const [padded, blank] = stepsOf('C15') as [Step, Step];

  it('keeps the idle limit away and does not reach the caller', async () => {
    world.primary.script([padded]);
    const reply = await client.send({ body: ask('padded', { model: 'alone' }) });
    expect([reply.status, reply.said]).toEqual([200, 'pong']);
    expect(reply.raw).toMatch(/^\{/);
    expect(reply.took).toBeGreaterThanOrEqual(590);
  });

  it('does not keep the total limit away', async () => {
    const parts = Array.from({ length: 30 }, () => [{ text: '\n' }, { sleep: 200 }]).flat();
    world.primary.script([{ headers: { 'content-type': 'application/json' }, body_parts: parts }]);
    const reply = await client.send({ body: ask('padded for ever', { model: 'alone' }) });
    expect([reply.status, reply.said]).toEqual([504, 'upstream_timeout']);
    expect(reply.took).toBeLessThan(3_000);
  });

  it('without a body is a failure, and is not kept', async () => {
    world.primary.script([blank, completion('pong')]);
    const reply = await client.send({ body: ask('blank', { model: 'alone' }) });
    expect([reply.status, reply.said]).toEqual([502, 'upstream_error']);
    expect((await client.send({ body: ask('blank', { model: 'alone' }) })).said).toBe('pong');
  });
});
