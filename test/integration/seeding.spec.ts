import { ask, callerOf } from '../support/caller';
import { startGateway, type Gateway } from '../support/gateway';
import { completion } from '../support/model-answers';
import { eventually } from '../support/operator';
import { startUpstream, type Upstream } from '../support/scripted-upstream';
import { textOf } from '../support/seeder';

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

describe('the address for seeds', () => {
  let upstream: Upstream;
  let gateway: Gateway;

  const configuration = (more: object = {}): object => ({
    server: { drain_ms: 100 },
    providers: { p: { base_url: `${upstream.url}/v1` } },
    models: { m: { provider: 'p' } },
    routes: { assistant: { chain: ['m'] }, search: { chain: ['m'] } },
    keys: [
      { name: 'shop', key: 'SHOP', limits: { rpm: 2 } },
      { name: 'app', key: 'APP', routes: ['search'] },
    ],
    users: { rpm: 1 },
    ...more,
  });

  beforeEach(async () => {
    upstream = await startUpstream([completion('Yes.')]);
  });

  afterEach(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const start = async (more: object = {}): Promise<void> => {
    gateway = await startGateway({ configuration: configuration(more) });
  };
  const send = async (path: string, body?: string, headers: Record<string, string> = {}): Promise<Reply> => {
    const type = { 'content-type': 'application/x-ndjson', ...headers };
    const response = await fetch(
      `${gateway.url}${path}`,
      body === undefined ? {} : { method: 'POST', body, headers: type },
    );
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  };
  const seeded = async (path: string, lines: readonly object[]): Promise<Reply['body']> => {
    const { status, body } = await send(path, textOf(lines));
    expect(status).toBe(202);
    await eventually(async () => (await send(`/admin/seed/${String(body['id'])}`)).body['state'] === 'succeeded');
    return (await send(`/admin/seed/${String(body['id'])}`)).body;
  };
  const hit = async (key: string, route: string, question: string): Promise<string | null> =>
    (await ask(callerOf(gateway.url, { key }), route, question)).headers.get('x-spillway-cache');

  it('serves the callers of the named key, else of the first, and eats nothing of what they may use', async () => {
    await start();
    const lines = ['a', 'b', 'c', 'd'].map(question => ({ question: `Is it ${question}?`, user: 'one' }));
    expect(await seeded('/admin/seed?route=search', lines)).toMatchObject({
      total: 4,
      done: 4,
      generated: 4,
      failed: 0,
    });
    expect(await seeded('/admin/seed?route=search&key=app', lines)).toMatchObject({ generated: 4, hits: 0 });
    expect(upstream.requests).toHaveLength(8);
    expect(await hit('SHOP', 'search', 'Is it a?')).toBe('HIT');
    expect(await hit('SHOP', 'search', 'Is it b?')).toBe('HIT');
    expect(await hit('APP', 'search', 'Is it c?')).toBe('HIT');
    expect(await hit('APP', 'search', 'Is it another?')).toBe('MISS');
  });

  it.each(['手机', 'küche'])('knows scopes of any script, as callers write them: %s', async scope => {
    await start();
    await seeded('/admin/seed?route=search&key=app', [{ scope, question: 'Is it?' }]);
    const headers = { authorization: 'Bearer APP', 'content-type': 'application/json' };
    const ask = async (): Promise<string | null> => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...headers, 'x-spillway-scope': Buffer.from(scope).toString('latin1') },
        body: JSON.stringify({ model: 'search', messages: [{ role: 'user', content: 'Is it?' }] }),
      });
      return response.headers.get('x-spillway-cache');
    };
    expect(await ask()).toBe('HIT');
    await fetch(`${gateway.url}/admin/cache?scope=${encodeURIComponent(scope)}`, { method: 'DELETE' });
    expect(await ask()).toBe('MISS');
  });

  it('refuses what makes no sense, with the reason', async () => {
    await start();
    const line = textOf([{ question: 'Is it?' }]);
    expect(await send('/admin/seed?route=gone', line)).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found', param: 'route' } },
    });
    expect(await send('/admin/seed?key=gone', line)).toMatchObject({ status: 400, body: { error: { param: 'key' } } });
    expect(await send('/admin/seed', '\n\n')).toMatchObject({ status: 400 });
    expect(await send('/admin/seed', line, { 'content-type': 'text/plain' })).toMatchObject({ status: 400 });
    expect(await send('/admin/seed/seed_none')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    expect(upstream.requests).toEqual([]);
  });

  it('takes texts up to a size of its own', async () => {
    await start({ seeding: { body_limit: '2kb' } });
    const large = textOf(Array.from({ length: 100 }, (_, index) => ({ question: `Is it ${index}?` })));
    expect(await send('/admin/seed', large)).toMatchObject({
      status: 413,
      body: { error: { code: 'request_too_large' } },
    });
  });

  it('is for operators', async () => {
    await start({ admin: { key: 'OPERATOR' } });
    const line = textOf([{ question: 'Is it?' }]);
    expect((await send('/admin/seed', line)).status).toBe(401);
    expect((await send('/admin/cache/lookup', line)).status).toBe(401);
    expect((await send('/admin/seed?route=search', line, { authorization: 'Bearer OPERATOR' })).status).toBe(202);
  });

  it('gives the seed of the same text that is under way, and a new one once it has ended', async () => {
    await start();
    upstream.script([{ ...completion('Yes.'), ttfb_ms: 1_000 }]);
    const text = textOf([{ question: 'Is it?' }, { question: 'Is it not?' }]);
    const [first, same] = [await send('/admin/seed?route=search', text), await send('/admin/seed?route=search', text)];
    expect(same.body).toEqual(first.body);
    await eventually(async () => (await send(`/admin/seed/${String(first.body['id'])}`)).body['state'] === 'succeeded');
    const again = await seeded('/admin/seed?route=search', [{ question: 'Is it?' }, { question: 'Is it not?' }]);
    expect(again['id']).not.toBe(first.body['id']);
    expect(again).toMatchObject({ hits: 2, generated: 0 });
    expect(upstream.requests).toHaveLength(2);
  });

  it('can be told to stop', async () => {
    await start();
    upstream.script([{ no_response: 'hang' }]);
    const { body } = await send('/admin/seed?route=search', textOf([{ question: 'Is it?' }]));
    await eventually(() => upstream.requests.length === 1);
    const response = await fetch(`${gateway.url}/admin/seed/${String(body['id'])}`, { method: 'DELETE' });
    expect(await response.json()).toMatchObject({ state: 'cancelled', total: 1 });
    await eventually(() => upstream.requests[0]?.closed_at !== null);
  });

  it('tells which tier would answer the questions of a sample, and asks no model', async () => {
    await start();
    await seeded('/admin/seed?route=search', [{ question: 'Is the boat waterproof?' }]);
    const sample = textOf([
      { question: 'Is the boat waterproof?' },
      { question: 'is the boat waterproof, please' },
      { question: 'Is the tent waterproof?' },
      { question: '' },
    ]);
    expect((await send('/admin/cache/lookup?route=search', sample)).body).toEqual({
      total: 4,
      exact: 1,
      canonical: 1,
      semantic: 0,
      none: 1,
      failed: 1,
      failures: [{ line: 4, reason: 'question must be a text' }],
    });
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('Cache-Control: only-if-cached', () => {
  it('ends with 504 where nothing is kept, else as any other call', async () => {
    const upstream = await startUpstream([completion('Yes.')]);
    const gateway = await startGateway({
      configuration: {
        providers: { p: { base_url: `${upstream.url}/v1` } },
        models: { m: { provider: 'p' } },
        routes: { assistant: { chain: ['m'], fallback_response: { normal: 'Later.' } } },
      },
    });
    const caller = callerOf(gateway.url);
    const headers = { 'cache-control': 'only-if-cached' };
    await expect(ask(caller, 'assistant', 'Is it?', { headers })).rejects.toMatchObject({
      status: 504,
      code: 'not_cached',
    });
    await ask(caller, 'assistant', 'Is it?');
    const kept = await ask(caller, 'assistant', 'Is it?', { headers });
    expect(kept.headers.get('x-spillway-outcome')).toBe('cache-exact');
    expect(upstream.requests).toHaveLength(1);
    await gateway.stop();
    await upstream.close();
  });
});
