import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, type Problem } from './configuration-error';
import { readEnvironment } from './environment';
import { loadSettings, needsSimulator } from './load';
import type { Settings } from './settings';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function load(text: string, env: NodeJS.ProcessEnv = {}): Settings {
  writeFileSync(join(folder, 'spillway.yaml'), text);
  return loadSettings(readEnvironment(env), { folder });
}

function problemsWith(text: string, env: NodeJS.ProcessEnv = {}): readonly Problem[] {
  try {
    load(text, env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

const MINIMAL = `
providers: { p: { base_url: http://127.0.0.1:1/v1 } }
models: { m: { provider: p }, n: { provider: p } }
routes: { r: { chain: [m] } }
`;

/** The minimal file with the given lines instead of, or beside, its sections. */
function file(sections: string): string {
  const names = [...sections.matchAll(/^(\w+):/gm)].map(match => match[1]);
  return `${MINIMAL.split('\n')
    .filter(line => !names.some(name => line.startsWith(`${name}:`)))
    .join('\n')}\n${sections}`;
}

describe('bad configurations', () => {
  it.each<[string, string[]]>([
    ['servers: {}', ['servers']],
    ['server: { prot: 1 }', ['server.prot']],
    ['server: { port: many }', ['server.port']],
    ['server: { port: "8080" }', ['server.port']],
    ['server: { port: 65536 }', ['server.port']],
    ['server: { body_limit: 10 elephants }', ['server.body_limit']],
    ['server: { body_limit: 0.1b }', ['server.body_limit']],
    ['server: { body_limit: 0 }', ['server.body_limit']],
    ['server: { drain_ms: -1 }', ['server.drain_ms']],
    ['server: { drain_ms: 3000000000 }', ['server.drain_ms']],
    ['server: { cors: sometimes }', ['server.cors']],
    ['server: []', ['server']],
    ['providers: { p: { base_url: "http://user@127.0.0.1:1/v1" } }', ['providers.p.base_url']],
    ['providers: { p: { base_url: "http://:secret@127.0.0.1:1/v1" } }', ['providers.p.base_url']],
    ['routes: { r: { chain: [constructor] } }', ['routes.r.chain[0]']],
    ['models: { m: { provider: toString }, n: { provider: p } }', ['models.m.provider']],
    ['redis: { url: http://127.0.0.1 }', ['redis.url']],
    ['redis: { prefix: "{a}" }', ['redis.prefix']],
    ['qdrant: { url: 127.0.0.1 }', ['qdrant.url']],
    ['providers: { p: { base_url: ftp://x } }', ['providers.p.base_url']],
    ['providers: { p: { base_url: http://me:secret@x } }', ['providers.p.base_url']],
    ['providers: { p: {} }', ['providers.p.base_url']],
    ['providers: { p: { base_url: http://x, api_key: "a b" } }', ['providers.p.api_key']],
    ['providers: { p: { base_url: http://x, headers: { "x y": z } } }', ['providers.p.headers.x y']],
    ['providers: { p: { base_url: http://x, headers: { x-y: "a\\nb" } } }', ['providers.p.headers.x-y']],
    ['providers: { p: { base_url: http://x }, onnx: { base_url: http://x } }', ['providers.onnx']],
    ['models: { m: {} }', ['models.m.provider']],
    ['models: { m: }', ['models.m']],
    ['models: { m: { provider: q } }', ['models.m.provider']],
    ['models: { m: { provider: p, limits: { rpm: -1 } } }', ['models.m.limits.rpm']],
    ['models: { m: { provider: p, limits: { tpm: 0.5 } } }', ['models.m.limits.tpm']],
    ['models: { m: { provider: p, limits: { tpd: .inf } } }', ['models.m.limits.tpd']],
    ['models: { m: { provider: p, limits: { rps: 1 } } }', ['models.m.limits.rps']],
    ['models: { m: { provider: p, headroom: 1 } }', ['models.m.headroom']],
    ['models: { m: { provider: p, headroom: -0.1 } }', ['models.m.headroom']],
    ['models: { m: { provider: p, timeout_ms: 0 } }', ['models.m.timeout_ms']],
    ['models: { m: { provider: p, idle_timeout_ms: .nan } }', ['models.m.idle_timeout_ms']],
    ['models: { m: { provider: p, growth: { max_ratio: 0 } } }', ['models.m.growth.max_ratio']],
    ['models: { m: { provider: p, growth: { floor_rps: 0.005 } } }', ['models.m.growth.floor_rps']],
    ['models: { m: { provider: p, climb: { mode: maybe } } }', ['models.m.climb.mode']],
    ['models: { m: { provider: p, climb: { relax_error_ratio: 0.5 } } }', ['models.m.climb.relax_error_ratio']],
    ['models: { m: { provider: p, breaker: { open_error_rate: 2 } } }', ['models.m.breaker.open_error_rate']],
    ['models: { m: { provider: p, breaker: { open_error_rate: 0.1 } } }', ['models.m.breaker.degraded_error_rate']],
    ['models: { m: { provider: p, breaker: { open_min_s: 60 } } }', ['models.m.breaker.open_min_s']],
    ['models: { m: { provider: p, price: { input: 1 } } }', ['models.m.price.output']],
    ['models: { m: { provider: p }, "a\\u0001": { provider: p } }', ['models."a\\u0001"']],
    ['models: { m: { provider: p }, " a": { provider: p } }', ['models. a']],
    ['models: { m: { provider: p }, __proto__: { provider: p } }', ['models.__proto__']],
    ['routes: { r: { chain: [] } }', ['routes.r.chain']],
    ['routes: { r: { chain: m } }', ['routes.r.chain']],
    ['routes: { r: { chain: [m, x] } }', ['routes.r.chain[1]']],
    ['routes: { r: { chain: [m, n, m] } }', ['routes.r.chain[2]']],
    ['routes: { r: { chain: [m] }, s: { chain: [r] } }', ['routes.s.chain[0]']],
    ['routes: { r: { chain: [s] }, s: { chain: [r] } }', ['routes.r.chain[0]', 'routes.s.chain[0]']],
    ['routes: { m: { chain: [m] } }', ['routes.m']],
    ['routes: { r: { chain: [m], chain_by_priority: { low: [x] } } }', ['routes.r.chain_by_priority.low[0]']],
    ['routes: { r: { chain: [m], chain_by_priority: { lowest: [m] } } }', ['routes.r.chain_by_priority.lowest']],
    ['routes: { r: { chain: [m], shed_to: { low: r } } }', ['routes.r.shed_to.low']],
    ['routes: { r: { chain: [m], fallback_response: { low: 1 } } }', ['routes.r.fallback_response.low']],
    ['routes: { r: { chain: [m], cache: { semantic: maybe } } }', ['routes.r.cache.semantic']],
    ['routes: { r: { chain: [m], cache: { threshold: 1.1 } } }', ['routes.r.cache.threshold']],
    ['routes: { r: { chain: [m], cache: { ttl_s: 0 } } }', ['routes.r.cache.ttl_s']],
    ['routes: { r: { chain: [m, n], hedge: { max_share: 0 } } }', ['routes.r.hedge.max_share']],
    ['routes: { r: { chain: [m, n], hedge: true } }', ['routes.r.hedge']],
    ['routes: { r: { chain: [m], hedge: {} } }', ['routes.r.hedge']],
    ['routes: { r: { chain: [m, n], chain_by_priority: { critical: [m] }, hedge: {} } }', ['routes.r.hedge']],
    ['passthrough: q', ['passthrough']],
    ['priorities: { low: { share: 0, min_share: 0 } }', ['priorities.low.share']],
    ['priorities: { low: { share: 1.5 } }', ['priorities.low.share']],
    ['priorities: { low: { min_share: 0.95 } }', ['priorities']],
    ['priorities: { low: { max_wait_ms: 600001 } }', ['priorities.low.max_wait_ms']],
    ['priorities: { urgent: {} }', ['priorities.urgent']],
    ['high_load: { low_queue: -1 }', ['high_load.low_queue']],
    ['health: { canary: { every_s: 60 } }', ['health.canary.questions']],
    ['health: { canary: { models: [nobody] } }', ['health.canary.models[0]']],
    ['health: { canary: { questions: [{ question: q, answer: "!" }] } }', ['health.canary.questions[0].answer']],
    ['classify: [{ when: {}, priority: low }]', ['classify[0].when']],
    ['classify: [{ when: { route: r }, priority: lowest }]', ['classify[0].priority']],
    ['keys: [{ name: a, key: x }, { name: a, key: y }]', ['keys[1].name']],
    ['keys: [{ name: a, key: x }, { name: b, key: x }]', ['keys[1].key']],
    ['keys: [{ name: a, key: "" }]', ['keys[0].key']],
    ['keys: [{ name: a, key: x, priority: normal, max_priority: low }]', ['keys[0].priority']],
    ['keys: [{ name: a, key: x, routes: [r, m, z] }]', ['keys[0].routes[2]']],
    ['users: { rpm: -1 }', ['users.rpm']],
    ['cache: { share: everybody }', ['cache.share']],
    ['cache: { error_budget: 2 }', ['cache.error_budget']],
    ['embedding: { provider: q, model: e }', ['embedding.provider']],
    ['embedding: { provider: p }', ['embedding.model']],
    ['scheduling: { worker_concurrency: 0 }', ['scheduling.worker_concurrency']],
    ['async: { result_ttl_s: 0 }', ['async.result_ttl_s']],
    ['log: { level: loud }', ['log.level']],
  ])('%s', (sections, paths) => {
    expect(problemsWith(file(sections)).map(problem => problem.path)).toEqual(paths);
  });

  it('are told with all problems of all kinds at once', () => {
    const text = file(`
server: { port: many, prot: 1 }
models:
  m: { provider: q, limits: { rpm: -1 } }
  m: { provider: q, limits: { rpm: -1 } }
keys:
  - { name: a, key: '\${UNSET}' }
  - { name: a, key: 5, routes: [z], key: x }
`);
    expect(problemsWith(text).map(problem => problem.path)).toEqual([
      'models.m',
      'keys[1].key',
      'keys[0].key',
      'server.port',
      'server.prot',
      'models.m.limits.rpm',
      'models.m.provider',
      'keys[1].name',
      'keys[1].routes[0]',
    ]);
  });

  it('never show a configured value', () => {
    const secret = 'sk-5f1c-secret value';
    const text = file(`
redis: { url: '\${SECRET}', prefix: '\${SECRET}' }
models: { m: { provider: '\${SECRET}', limits: { rpm: '\${SECRET}' } } }
routes: { r: { chain: ['\${SECRET}'], cache: { guard: '\${SECRET}' } } }
keys: [{ name: a, key: '\${SECRET}', priority: '\${SECRET}', routes: ['\${SECRET}'] }]
embedding: { provider: '\${SECRET}' }
`);
    const problems = problemsWith(text, { SECRET: secret });
    expect(problems.length).toBeGreaterThanOrEqual(10);
    expect(new ConfigurationError(problems).message).not.toContain('secret');
  });

  it('that are no YAML are refused without quoting them', () => {
    const problems = problemsWith('keys: [{ key: "sk-secret }');
    expect(problems[0]?.message).toMatch(/^line 1, column \d+: /);
    expect(JSON.stringify(problems)).not.toContain('sk-secret');
  });

  it.each([
    [
      'a bomb of aliases',
      `a: &a [x, x]\nb: &b [${'*a, '.repeat(30)}]\nc: [${'*b, '.repeat(30)}]`,
      /expand to too much/,
    ],
    ['a circle of aliases', 'server: &a { host: *a }', /what contains it/],
    ['a list', '- a', /expected object/],
    ['a text', 'hello', /expected object/],
    ['two documents', 'server: {}\n---\nserver: {}', /line 2, column 1: a second document begins/],
    ['an unknown tag', 'server: !x {}', /tag/],
  ])('%s is refused', (_, text, message) => {
    expect(problemsWith(text)[0]?.message).toMatch(message);
  });

  it('include a file that is named and missing', () => {
    const environment = readEnvironment({ SPILLWAY_CONFIG: 'missing.yaml' });
    expect(() => loadSettings(environment, { folder })).toThrow(/cannot read .*missing\.yaml \(ENOENT\)/);
  });

  it('say so when nothing could be called', () => {
    expect(problemsWith('providers: { p: { base_url: http://x } }').map(({ path }) => path)).toEqual(['models']);
  });
});

describe('variables', () => {
  const host = (text: string, env: NodeJS.ProcessEnv = {}) => load(`server: { host: ${text} }`, env).server.host;

  it('are replaced inside texts', () => {
    expect(host(`'a-\${X}-\${Y:-y}-b'`, { X: 'x' })).toBe('a-x-y-b');
  });

  it('have defaults for unset and for empty ones', () => {
    expect([host(`'\${X:-d}'`), host(`'\${X:-d}'`, { X: '' }), host(`'\${X:-d}'`, { X: 'x' })]).toEqual([
      'd',
      'd',
      'x',
    ]);
  });

  it('cannot change the structure of the file', () => {
    const value = `x" }\nkeys: []\n# '`;
    expect(host(`"\${X}"`, { X: value })).toBe(value);
  });

  it('are not searched again', () => {
    expect(host(`'\${X}'`, { X: '${Y}', Y: 'y' })).toBe('${Y}');
  });

  it('can be written literally', () => {
    expect(host(`'$\${X} $5 $$'`)).toBe('${X} $5 $$');
  });

  it.each(['${X', '${}', '${X-d}', '${1}', '${X:}'])('that are malformed are an error: %s', reference => {
    expect(problemsWith(`server: { host: '${reference}' }`).map(({ path }) => path)).toEqual(['server.host']);
  });

  it('must be set', () => {
    expect(problemsWith(file(`server: { host: '\${X}' }`))).toEqual([
      { path: 'server.host', message: 'the environment variable X is not set' },
    ]);
  });

  it('can be numbers, switches and lists of texts', () => {
    const text = `
server: { port: '\${P}', cors: '\${C}', drain_ms: '\${D:-}' }
log: { snippets: '\${S}' }
priorities: { low: { share: '\${SHARE:-0.5}' } }
async: { callback_hosts: ['\${P}'] }
`;
    const settings = load(text, { P: '9000', C: 'true', S: 'false' });
    expect(settings.server).toMatchObject({ port: 9000, cors: true, drain_ms: 30_000 });
    expect(settings.log.snippets).toBe(false);
    expect(settings.priorities.low.share).toBe(0.5);
    expect(settings.async.callback_hosts).toEqual(['9000']);
  });

  it('stay text where text is wanted', () => {
    expect(load(file(`keys: [{ name: a, key: '\${K}' }]`), { K: '12345' }).keys[0]?.key).toBe('12345');
  });

  it('keep what is written as text from being a number', () => {
    expect(problemsWith(`server: { port: '\${P}' }`, { P: '80a' }).map(({ path }) => path)).toEqual(['server.port']);
  });
});

describe('the built-in configuration', () => {
  const builtIn = (env: NodeJS.ProcessEnv, simulatorUrl?: string) =>
    loadSettings(readEnvironment(env), { folder, simulatorUrl });

  it('uses the simulator when nothing is configured', () => {
    const settings = builtIn({}, 'http://127.0.0.1:4321/v1');
    const route = settings.target('assistant');
    expect(route?.chain.map(model => [model.name, model.provider.base_url])).toEqual([
      ['simulator', 'http://127.0.0.1:4321/v1'],
    ]);
    expect([settings.file, settings.passthrough]).toEqual([null, null]);
    expect(settings.target('gpt-4o')).toBeUndefined();
    expect(needsSimulator(readEnvironment({}), folder)).toBe(true);
  });

  it('uses the provider of the environment', () => {
    const env = { OPENAI_API_KEY: 'sk-x' };
    const model = builtIn(env).target('assistant')?.chain[0];
    expect(model).toMatchObject({
      name: 'gpt-4o-mini',
      provider: { name: 'openai', base_url: 'https://api.openai.com/v1', api_key: 'sk-x' },
    });
    expect(builtIn(env).target('o9')?.chain[0]).toMatchObject({ upstream_model: 'o9', provider: { name: 'openai' } });
    expect(needsSimulator(readEnvironment(env), folder)).toBe(false);
  });

  it('takes address and model from the environment, also without a key', () => {
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1/', OPENAI_MODEL: 'qwen' };
    const model = builtIn(env).target('assistant')?.chain[0];
    expect(model).toMatchObject({ name: 'qwen', provider: { base_url: 'http://127.0.0.1:1/v1', api_key: undefined } });
    expect(needsSimulator(readEnvironment(env), folder)).toBe(false);
  });

  it('takes what the environment says literally', () => {
    const model = builtIn({ OPENAI_API_KEY: 'a${X}$${', OPENAI_MODEL: '${M}' }).target('assistant')?.chain[0];
    expect([model?.name, model?.provider.api_key]).toEqual(['${M}', 'a${X}$${']);
  });

  it('also serves a file that says nothing of what to call', () => {
    const settings = load('server: { port: 9000 }\nroutes:\n');
    expect(settings.server.port).toBe(9000);
    expect(settings.target('assistant')).toBeDefined();
    expect(needsSimulator(readEnvironment({}), folder)).toBe(true);
  });

  it('gives way to a file, and needs no simulator for a broken one', () => {
    expect(load(MINIMAL).target('assistant')).toBeUndefined();
    expect(needsSimulator(readEnvironment({}), folder)).toBe(false);
    writeFileSync(join(folder, 'spillway.yaml'), '{');
    expect(needsSimulator(readEnvironment({}), folder)).toBe(false);
  });
});

describe('the environment', () => {
  it('wins over the file', () => {
    const text = `
server: { host: 127.0.0.1, port: 1 }
redis: { url: redis://a }
qdrant: { url: http://a, api_key: a }
admin: { key: a }
log: { level: warn }
`;
    const settings = load(text, {
      HOST: '0.0.0.0',
      PORT: '2',
      REDIS_URL: 'redis://b',
      QDRANT_URL: 'http://b',
      QDRANT_API_KEY: 'b',
      SPILLWAY_ADMIN_KEY: 'b',
      LOG_LEVEL: 'debug',
    });
    expect(settings.server).toMatchObject({ host: '0.0.0.0', port: 2 });
    expect(settings.redis.url).toBe('redis://b');
    expect(settings.qdrant).toMatchObject({ url: 'http://b', api_key: 'b' });
    expect(settings.admin.key).toBe('b');
    expect(settings.log.level).toBe('debug');
  });

  it('names the file', () => {
    writeFileSync(join(folder, 'other.yaml'), 'server: { port: 7 }');
    const settings = loadSettings(readEnvironment({ SPILLWAY_CONFIG: 'other.yaml' }), { folder });
    expect([settings.server.port, settings.file]).toEqual([7, join(folder, 'other.yaml')]);
  });
});
