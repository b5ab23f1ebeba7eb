import { ApiClient, until } from '../support/api-client';
import { startGateway, type Gateway } from '../support/gateway';
import { startUpstream, type Upstream } from '../support/scripted-upstream';

const answer = (content: string): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
});

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly content: string }[];
}

/** One provider with an assistant, which says what it was asked, and a judge, who finds all things of one kind equal. */
function script({ body }: { readonly body: string }): { json: object } {
  const { model, messages } = JSON.parse(body) as Asked;
  const asked = messages.at(-1)?.content ?? '';
  if (model !== 'judge') return { json: answer(`About: ${asked}`) };
  const { first, second } = JSON.parse(asked) as { first: string; second: string };
  const kindOf = (text: string): string | undefined => /kettle|toaster/.exec(text)?.[0];
  return { json: answer(JSON.stringify({ same: kindOf(first) === kindOf(second) })) };
}

describe('reuse that is judged', () => {
  let upstream: Upstream;
  let gateway: Gateway;
  let client: ApiClient;

  beforeEach(async () => {
    upstream = await startUpstream(script);
    gateway = await startGateway({
      configuration: {
        providers: { scripted: { base_url: `${upstream.url}/v1` } },
        models: { m: { provider: 'scripted' }, judge: { provider: 'scripted' } },
        routes: { assistant: { chain: ['m'] } },
        cache: { judge: { model: 'judge', hits: 1, per_minute: 1000 } },
      },
    });
    client = new ApiClient(gateway.url, '');
  });

  afterEach(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const ask = (content: string, headers = {}) =>
    client.send({ body: { model: 'assistant', messages: [{ role: 'user', content }] }, headers });
  const quality = async (): Promise<Record<string, unknown>> => {
    const { raw } = await client.get('/admin/cache/quality');
    return (JSON.parse(raw) as { routes: Record<string, Record<string, unknown>> }).routes['assistant'] ?? {};
  };
  const feedback = (body: unknown) => client.send({ path: '/admin/cache/feedback', body: JSON.stringify(body) });

  it('asks the judge about near misses and hits, in the background and as LOW calls', async () => {
    await ask('How do I descale the kettle at home?');
    await until(async () => (await ask('How do I descale the kettle?')).headers.get('x-spillway-cache') !== null);
    const missed = await ask('What descales the kettle at home best?');
    expect(missed.headers.get('x-spillway-cache')).toBe('MISS');
    await until(async () => Number((await quality())['judged_near_misses']) > 0);
    expect(await quality()).toMatchObject({ trusts_guard: true, boundary: null });
    const judged = gateway.log.lines.filter(({ fields }) => fields['key'] === 'spillway:judge');
    expect(judged.length).toBeGreaterThan(0);
    for (const { fields } of judged) expect(fields).toMatchObject({ priority: 'low', cache: 'BYPASS' });

    const hit = await ask('Please, how can I descale a kettle at home');
    expect(hit.headers.get('x-spillway-cache')).toMatch(/HIT/);
  });

  it('takes the word of an operator, and after two complaints lets the question go', async () => {
    await ask('How do I log in to the kettle portal?');
    const reworded = (): ReturnType<typeof ask> =>
      ask('How do I sign into the kettle portal?', { 'cache-control': 'no-store' });
    const again = (id: string): ReturnType<typeof ask> =>
      ask('How do I sign into the kettle portal?', { 'x-request-id': id });
    expect((await reworded()).status).toBe(200);
    await until(async () => (await again('hit-1')).headers.get('x-spillway-cache') === 'SEMANTIC_HIT');
    expect((await again('hit-2')).headers.get('x-spillway-cache')).toBe('SEMANTIC_HIT');
    expect((await feedback({ request_id: 'hit-1', wrong: true })).body).toEqual({ noted: true });
    expect((await again('hit-3')).headers.get('x-spillway-cache')).toBe('SEMANTIC_HIT');
    await feedback({ request_id: 'hit-2', wrong: true });
    expect((await again('after')).headers.get('x-spillway-cache')).toBe('MISS');
    expect(await quality()).toMatchObject({ evicted: 1 });
  });

  it.each([
    [{}, 400],
    [{ request_id: 'x' }, 400],
    [{ request_id: 'x', wrong: 'yes' }, 400],
    [[], 400],
    [{ request_id: 'unknown', wrong: true }, 404],
  ])('answers the feedback %j with %i', async (body, status) => {
    expect((await feedback(body)).status).toBe(status);
  });
});
