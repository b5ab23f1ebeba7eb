import { startGateway, type Gateway } from '../support/gateway';

const ADMIN_KEY = 'sk-admin-eeff00112233';

describe('the console', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway({
      configuration: {
        providers: { local: { base_url: 'http://127.0.0.1:9/v1' } },
        models: { 'secret-model': { provider: 'local' } },
        routes: { 'secret-route': { chain: ['secret-model'] } },
        admin: { key: ADMIN_KEY },
      },
    });
  });

  afterAll(() => gateway.stop());

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(gateway.url + path, { headers });
  /** The page and all files that it and they name. */
  const files = async (): Promise<ReadonlyMap<string, string>> => {
    const texts = new Map<string, string>();
    const read = async (path: string): Promise<void> => {
      if (texts.has(path)) return;
      const response = await get(path);
      // The page says by its status that a key is needed; a browser shows it all the same.
      expect([path, response.status]).toEqual([path, path === '/ui' ? 401 : 200]);
      texts.set(path, await response.text());
      const named = texts.get(path)?.matchAll(/(?:src|href)="(\/[^"]+)"|from '\.(\/[^']+)'/g) ?? [];
      for (const [, absolute, relative] of named) await read(absolute ?? `/ui${relative}`);
    };
    await read('/ui');
    return texts;
  };

  it('comes without a key, as a browser has none before it has the page, with all that it names', async () => {
    const names = [...(await files()).keys()];
    expect(names).toEqual(expect.arrayContaining(['/ui', '/ui/console.css', '/ui/main.js', '/ui/server.js']));
  });

  it('is where a browser comes that is given no more than the address of Spillway', async () => {
    const { status, headers } = await fetch(gateway.url, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([303, '/ui']);
  });

  it('is found with a slash at the end, too', async () => {
    expect(await (await get('/ui/')).text()).toBe(await (await get('/ui')).text());
    expect((await get('/admin/status/')).status).toBe(401);
  });

  it('asks for nothing beyond this server and runs no script but its own', async () => {
    for (const [name, text] of await files()) {
      const outside = text.replaceAll('http://www.w3.org/2000/svg', '').match(/(https?:)?\/\/[a-z][^\s'"]*\.[a-z]+/gi);
      expect([name, outside]).toEqual([name, null]);
      expect(text).not.toMatch(/<script>|\son\w+=|\sstyle=|innerHTML|eval\(/);
    }
    const policy = (await get('/ui')).headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
  });

  it('holds no data: that is behind the key', async () => {
    for (const text of (await files()).values()) expect(text).not.toMatch(/secret-model|secret-route|sk-admin/);
    for (const path of ['/ui', '/admin/status', '/admin/queues', '/admin/explain/x', '/metrics']) {
      expect([path, (await get(path)).status]).toEqual([path, 401]);
      expect([path, (await get(path, { authorization: `Bearer ${ADMIN_KEY}` })).status]).not.toEqual([path, 401]);
    }
  });

  it.each(['/ui/..%2fmain.js', '/ui/%2e%2e/http-server.js', '/ui/constructor', '/ui/index.ts'])(
    'has no file but its own: %s',
    async path => {
      expect((await get(path)).status).toBe(404);
    },
  );
});
