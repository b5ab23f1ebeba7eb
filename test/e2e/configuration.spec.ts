import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startSimulator, type Simulator } from '../../apps/simulator/src/simulator';
import { ask, callerOf, failureOf } from '../support/caller';
import { eventually } from '../support/operator';
import { configurationFile } from '../support/settings';
import { runProgram, startSpillway, type SpillwayOptions, type SpillwayProcess } from '../support/spillway';

const INVALID = {
  server: { port: 'eighty' },
  providers: { simulator: { base_url: 'ftp://nowhere', api_key: '${NOBODY_SET_THIS}' } },
  models: { m: { provider: 'missing', limits: { rpm: -1 } } },
  routes: { assistant: { chain: ['m', 'ghost'], fallback: 'typo' } },
  priorities: { low: { share: 7 } },
};
const PROBLEMS = [
  'server.port: ',
  'providers.simulator.base_url: ',
  'providers.simulator.api_key: ',
  'models.m.provider: no provider has this name',
  'models.m.limits.rpm: ',
  'routes.assistant.chain[1]: no model has this name',
  'routes.assistant.fallback: unknown key',
  'priorities.low.share: ',
];

describe('configuration', () => {
  let simulator: Simulator;
  const processes: SpillwayProcess[] = [];

  beforeAll(async () => {
    simulator = await startSimulator({ defaultModel: { latency: { first_token_ms: 0, tokens_per_s: 0 } } });
  });

  beforeEach(() => simulator.reset());

  afterEach(async () => {
    await Promise.all(processes.map(process => process.stop()));
    processes.length = 0;
  });

  afterAll(() => simulator.close());

  const start = async (options: SpillwayOptions): Promise<SpillwayProcess> => {
    const process = await startSpillway(options);
    processes.push(process);
    return process;
  };
  const valid = (changes: object = {}): Record<string, unknown> => ({
    providers: { simulator: { base_url: simulator.url } },
    models: { m: { provider: 'simulator' } },
    routes: { assistant: { chain: ['m'] } },
    ...changes,
  });
  const routesOf = async ({ url }: SpillwayProcess): Promise<string[]> =>
    (await callerOf(url).models.list()).data.map(({ id }) => id);

  describe('that is not valid', () => {
    it('stops the start with exit code 1 and every problem with its path', async () => {
      const { code, output } = await runProgram('main.js', [], { SPILLWAY_CONFIG: configurationFile(INVALID) });
      expect(code).toBe(1);
      for (const problem of PROBLEMS) expect(output).toContain(problem);
      expect(output).not.toMatch(/^ +at /m);
    });

    it('is reported by validate in the same words', async () => {
      const { code, output } = await runProgram('validate.js', [configurationFile(INVALID)]);
      expect(code).toBe(1);
      for (const problem of PROBLEMS) expect(output).toContain(problem);
      expect(output.trim().split('\n')).toHaveLength(PROBLEMS.length);
    });

    it.each([
      ['PORT', 'http'],
      ['REDIS_URL', 'http://127.0.0.1'],
      ['SPILLWAY_ROLE', 'boss'],
      ['SPILLWAY_CONFIG', '/there/is/no/such/file.yaml'],
    ])('may come from the environment: %s=%s', async (name, value) => {
      const { code, output } = await runProgram('main.js', [], { [name]: value });
      expect(code).toBe(1);
      expect(output).toContain(name === 'SPILLWAY_CONFIG' ? value : name);
      expect(output).not.toMatch(/^ +at /m);
    });
  });

  it('that names a port in use stops the start, and says so in one line', async () => {
    const { url } = await start({ configuration: valid() });
    const env = { SPILLWAY_CONFIG: configurationFile(valid()), PORT: new URL(url).port };
    const { code, output } = await runProgram('main.js', [], env);
    expect(code).toBe(1);
    expect(output).toMatch(/^Cannot listen: .*EADDRINUSE.*\n$/);
  });

  it('that is valid is reported so by validate, the example too', async () => {
    const own = await runProgram('validate.js', [configurationFile(valid())]);
    expect(own).toMatchObject({ code: 0, output: expect.stringContaining('routes: assistant') as string });
    const example = await runProgram('validate.js', [join(__dirname, '../../spillway.example.yaml')], {
      OPENAI_API_KEY: 'sk-1',
      SHOP_KEY: 'sk-2',
      BATCH_KEY: 'sk-3',
    });
    expect(example.code).toBe(0);
  });

  describe('that changes', () => {
    let file: string;
    let process: SpillwayProcess;
    const change = (configuration: object): void => writeFileSync(file, stringify(configuration));
    const post = (): Promise<Response> => fetch(`${process.url}/admin/reload`, { method: 'POST' });
    const lines = (text: string): number => process.logLines().filter(({ msg }) => String(msg).includes(text)).length;

    beforeEach(async () => {
      file = configurationFile(valid());
      process = await start({ env: { SPILLWAY_CONFIG: file } });
    });

    it('is taken over on SIGHUP, and an invalid one is not', async () => {
      change(valid({ routes: { assistant: { chain: ['m'] }, search: { chain: ['m'] } } }));
      process.kill('SIGHUP');
      await eventually(() => lines('reloaded') === 1);
      expect(await routesOf(process)).toEqual(['assistant', 'search', 'm']);
      expect((await ask(callerOf(process.url), 'search', 'found?')).text).toContain('found?');

      change(INVALID);
      process.kill('SIGHUP');
      await eventually(() => lines('not reloaded') === 1);
      for (const problem of PROBLEMS) expect(process.output()).toContain(problem.split(': ')[0]);
      expect(await routesOf(process)).toEqual(['assistant', 'search', 'm']);
      expect((await ask(callerOf(process.url), 'search', 'still?')).text).toContain('still?');
    });

    it('is taken over by POST /admin/reload, which answers with all problems of an invalid one', async () => {
      change(valid({ routes: { other: { chain: ['m'] } } }));
      const changed = await post();
      expect(changed.status).toBe(200);
      expect(await changed.json()).toMatchObject({ changed: true });
      expect(await routesOf(process)).toEqual(['other', 'm']);
      expect(await (await post()).json()).toMatchObject({ changed: false });

      change(INVALID);
      const refused = await post();
      expect(refused.status).toBe(400);
      const { error } = (await refused.json()) as { error: { message: string; code: string } };
      expect(error.code).toBe('invalid_request');
      for (const problem of PROBLEMS) expect(error.message).toContain(problem);
      expect(await routesOf(process)).toEqual(['other', 'm']);
    });

    it('does not touch the rules of a call under way', async () => {
      simulator.configure('m', { latency: { first_token_ms: 1_500 } });
      const running = ask(callerOf(process.url), 'assistant', 'running');
      await eventually(() => simulator.requests('m').length === 1);
      change(valid({ routes: { other: { chain: ['m'] } } }));
      expect((await post()).status).toBe(200);
      expect((await running).text).toContain('running');
      expect((await failureOf(ask(callerOf(process.url), 'assistant', 'later'))).status).toBe(404);
    });
  });

  it('of the environment wins over the file', async () => {
    const process = await start({
      configuration: valid({
        server: { port: 1, host: '203.0.113.1' },
        redis: { url: 'redis://127.0.0.1:1' },
        admin: { key: 'of-the-file' },
        log: { level: 'silent' },
      }),
      env: { PORT: '0', HOST: '127.0.0.1', SPILLWAY_ADMIN_KEY: 'of-the-environment', LOG_LEVEL: 'info' },
    });
    const status = async (key: string): Promise<number> =>
      (await fetch(`${process.url}/admin/status`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status('of-the-environment')).toBe(200);
    expect(await status('of-the-file')).toBe(401);
  });

  it('says who may call what, in which class, and who may operate', async () => {
    const process = await start({
      configuration: valid({
        routes: { assistant: { chain: ['m'] }, secret: { chain: ['m'] } },
        keys: [
          { name: 'shop', key: '${SHOP_KEY}', routes: ['assistant'], priority: 'low', max_priority: 'normal' },
          { name: 'house', key: 'sk-house' },
        ],
        admin: { key: 'sk-admin' },
      }),
      env: { SHOP_KEY: 'sk-shop' },
    });
    const shop = callerOf(process.url, { key: 'sk-shop' });
    const house = callerOf(process.url, { key: 'sk-house', path: '/critical/v1' });

    expect((await ask(shop, 'assistant', 'a')).headers.get('x-spillway-priority')).toBe('low');
    const raised = await ask(shop, 'assistant', 'b', { headers: { 'x-spillway-priority': 'critical' } });
    expect(raised.headers.get('x-spillway-priority')).toBe('normal');
    for (const model of ['secret', 'm']) {
      expect(await failureOf(ask(shop, model, 'c'))).toMatchObject({ status: 403, code: 'not_allowed' });
    }
    expect((await shop.models.list()).data.map(({ id }) => id)).toEqual(['assistant']);
    expect((await ask(house, 'secret', 'd')).headers.get('x-spillway-priority')).toBe('critical');
    for (const key of ['sk-nobody', 'sk-admin']) {
      const error = await failureOf(ask(callerOf(process.url, { key }), 'assistant', 'e'));
      expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' });
    }

    const paths = ['/admin/status', '/metrics'];
    const statuses = (headers: Record<string, string>): Promise<number[]> =>
      Promise.all(paths.map(async path => (await fetch(process.url + path, { headers })).status));
    expect(await statuses({})).toEqual([401, 401]);
    expect(await statuses({ authorization: 'Bearer sk-house' })).toEqual([401, 401]);
    expect(await statuses({ authorization: 'Bearer sk-admin' })).toEqual([200, 200]);
    expect((await fetch(`${process.url}/readyz`)).status).toBe(200);
  });

  describe('that is built in', () => {
    const env = (): Record<string, string> => ({
      OPENAI_API_KEY: 'sk-of-the-provider',
      OPENAI_BASE_URL: simulator.url,
    });
    const called = (): unknown[] => simulator.requests().map(({ model }) => model);

    it('sends the route to gpt-4o-mini and other names as they are, with the key of the environment', async () => {
      const process = await start({ env: env() });
      const caller = callerOf(process.url);
      const { headers } = await ask(caller, 'assistant', 'one');
      expect(headers.get('x-spillway-model')).toBe('gpt-4o-mini');
      await ask(caller, 'gpt-7-not-yet-known', 'two');
      await caller.embeddings.create({ model: 'text-embedding-3-small', input: 'three' });
      expect(called()).toEqual(['gpt-4o-mini', 'gpt-7-not-yet-known', 'text-embedding-3-small']);
      for (const request of simulator.requests()) {
        expect(request.headers.authorization).toBe('Bearer sk-of-the-provider');
      }
      expect(process.output()).not.toContain('sk-of-the-provider');
    });

    it('takes the model of OPENAI_MODEL', async () => {
      const process = await start({ env: { ...env(), OPENAI_MODEL: 'my-model' } });
      await ask(callerOf(process.url), 'assistant', 'one');
      expect(called()).toEqual(['my-model']);
    });

    it('answers by the simulator when nothing is there, from any folder, and says so', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'spillway-elsewhere-'));
      const process = await start({ folder, env: { HOST: '0.0.0.0' } });
      const { text, headers } = await ask(callerOf(process.url), 'assistant', 'is this real?');
      expect(text).toMatch(/simulator, not a real model/);
      expect(headers.get('x-spillway-outcome')).toBe('generated');
      expect(await routesOf(process)).toEqual(['assistant', 'simulator']);
      expect(process.output()).toMatch(/nothing is configured.*simulator/);
      expect(process.output()).toMatch(/no REDIS_URL.*in memory/);
      expect(process.output()).toMatch(/no keys.*this machine/);
      expect(process.output()).toMatch(/"configuration":null.*listening on/);
    });
  });

  it('is found as spillway.yaml in the folder of the start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spillway-folder-'));
    writeFileSync(join(folder, 'spillway.yaml'), stringify(valid({ routes: { found: { chain: ['m'] } } })));
    expect(await routesOf(await start({ folder }))).toEqual(['found', 'm']);
  });
});
