import type { ModelSettings, RouteSettings } from '@spillway/contracts';
import { readEnvironment } from './environment';
import { resolve } from './resolve';
import { configurationSchema } from './schema';
import type { Settings } from './settings';

const NO_ENVIRONMENT = readEnvironment({});
const PROVIDERS = { p: { base_url: 'http://127.0.0.1:1/v1/' } };
const SECTIONS = [
  'server',
  'redis',
  'qdrant',
  'high_load',
  'health',
  'classify',
  'keys',
  'users',
  'admin',
  'cache',
  'scheduling',
  'async',
  'seeding',
  'log',
] as const;

function settingsOf(configuration: Record<string, unknown>): Settings {
  const complete = configurationSchema.parse({
    providers: PROVIDERS,
    models: { m: { provider: 'p' }, n: { provider: 'p' } },
    routes: { r: { chain: ['m', 'n'] } },
    ...configuration,
  });
  return resolve(complete, NO_ENVIRONMENT, null);
}

describe('defaults', () => {
  const settings = settingsOf({});

  it('of the sections', () => {
    expect(SECTIONS.map(name => [name, settings[name]])).toEqual(
      Object.entries({
        server: {
          host: '127.0.0.1',
          port: 8080,
          body_limit: 10 * 1024 * 1024,
          drain_ms: 30_000,
          cors: false,
          heartbeat_ms: 15_000,
        },
        redis: { prefix: 'spillway', timeout_ms: 100 },
        qdrant: { collection: 'spillway' },
        high_load: { normal_queue: 500, low_queue: 2000 },
        health: { canary: { every_s: 0, questions: [] } },
        classify: [],
        keys: [],
        users: { rpm: 0 },
        admin: { explain_entries: 1000 },
        cache: {
          ttl_s: 3600,
          l1_entries: 10_000,
          max_item_bytes: 1_000_000,
          error_budget: 0.01,
          coalesce: true,
          share: 'key',
          vector_entries: 100_000,
          folder: null,
          judge: { hits: 0.05, per_minute: 30, error: 0.05 },
        },
        scheduling: { express: true, worker_concurrency: 10, lease_ms: 10_000, claim_ms: 2000 },
        async: { result_ttl_s: 86_400, max_age_s: 86_400, queue_limit: 10_000, concurrency: 50, callback_hosts: [] },
        seeding: { body_limit: 64 * 1024 * 1024, concurrency: 4 },
        log: { level: 'info', snippets: true },
      }),
    );
    expect([settings.embedding, settings.passthrough]).toEqual([{ kind: 'builtin' }, null]);
  });

  it('of the classes', () => {
    expect(settings.priorities).toEqual({
      critical: { queue_limit: 1000, max_wait_ms: 5000, deadline_ms: 0, share: 1, min_share: 0 },
      normal: { queue_limit: 5000, max_wait_ms: 15_000, deadline_ms: 0, share: 0.9, min_share: 0.1 },
      low: { queue_limit: 10_000, max_wait_ms: 60_000, deadline_ms: 0, share: 0.7, min_share: 0.05 },
    });
    expect(settingsOf({ priorities: { low: { share: 0.5 } } }).priorities).toEqual({
      ...settings.priorities,
      low: { ...settings.priorities.low, share: 0.5 },
    });
  });

  it('of a provider and a model', () => {
    expect(settings.models.get('m')).toEqual({
      name: 'm',
      metric_label: 'm',
      provider: { name: 'p', base_url: 'http://127.0.0.1:1/v1', headers: {}, stream_usage: true },
      upstream_model: 'm',
      limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0 },
      headroom: 0,
      adaptive_inflight: true,
      climb: {
        mode: 'auto',
        initial_rps: 10,
        max_rps: 0,
        burst_s: 1,
        interval_s: 10,
        strict_error_ratio: 0.05,
        relax_error_ratio: 0.01,
        probe_ratio: 0.05,
        fast_probe_ratio: 0.1,
      },
      breaker: {
        window_s: 60,
        min_requests: 20,
        degraded_error_rate: 0.15,
        open_error_rate: 0.5,
        consecutive_failures: 10,
        open_min_s: 1,
        open_max_s: 30,
      },
      timeout_ms: 60_000,
      first_token_timeout_ms: 30_000,
      idle_timeout_ms: 30_000,
    });
  });

  it('of growth, where it is written', () => {
    const { models } = settingsOf({ models: { m: { provider: 'p', growth: {} }, n: { provider: 'p' } } });
    expect(models.get('m')?.growth).toEqual({ max_ratio: 0.2, per_s: 180, floor_rps: 5 });
    expect(models.get('n')?.growth).toBeUndefined();
  });

  it.each([
    [{}, 0],
    [{ limits: { rpm: 0 } }, 0],
    [{ limits: { inflight: 1 } }, 0.2],
    [{ limits: { rpm: 1 }, headroom: 0 }, 0],
    [{ headroom: 0.5 }, 0.5],
  ])('of headroom: %j has %d', (model, headroom) => {
    const { models } = settingsOf({ models: { m: { provider: 'p', ...model } }, routes: {} });
    expect(models.get('m')?.headroom).toBe(headroom);
  });

  it('of a route', () => {
    expect(settings.routes.get('r')).toMatchObject({
      name: 'r',
      chain_by_priority: {},
      shed_to: {},
      stale_if_error_s: 0,
      fallback_response: { critical: null, normal: null, low: null },
      cache: { exact: true, semantic: true, ttl_s: 3600, threshold: null, guard: null },
    });
  });

  it('of hedging, where it is written', () => {
    const routes = { r: { chain: ['m', 'n'], hedge: {} }, s: { chain: ['m', 'n'] } };
    const { routes: resolved } = settingsOf({ models: { m: { provider: 'p' }, n: { provider: 'p' } }, routes });
    expect(resolved.get('r')?.hedge).toEqual({ max_share: 0.1, after_ms: 200 });
    expect(resolved.get('s')?.hedge).toBeUndefined();
  });

  it('of a key', () => {
    expect(settingsOf({ keys: [{ name: 'a', key: 'x' }] }).keys).toEqual([
      {
        name: 'a',
        key: 'x',
        priority: 'normal',
        max_priority: 'critical',
        routes: null,
        limits: { rpm: 0, tpm: 0, inflight: 0 },
      },
    ]);
  });
});

describe('the cache of a route', () => {
  const embed = { embedding: { provider: 'p', model: 'e' } };
  const cacheOf = (cache: object, more: object = {}) =>
    settingsOf({ routes: { r: { chain: ['m'], cache } }, cache: { ttl_s: 60 }, ...more }).target('r')?.cache;

  it('falls back to the lifetime of all caches', () => {
    expect([cacheOf({})?.ttl_s, cacheOf({ ttl_s: 5 })?.ttl_s]).toEqual([60, 5]);
  });

  it('leaves guard and threshold to the embedder unless they are given', () => {
    expect(cacheOf({}, embed)).toMatchObject({ guard: null, threshold: null });
    expect(cacheOf({ guard: 'off', threshold: 0.7 }, embed)).toMatchObject({ guard: 'off', threshold: 0.7 });
  });
});

describe('resolved references', () => {
  it('are the same objects everywhere', () => {
    const settings = settingsOf({
      routes: { r: { chain: ['m', 'n'], chain_by_priority: { low: ['n'] }, shed_to: { low: 'n' } } },
      embedding: { provider: 'p', model: 'e' },
    });
    const n = settings.models.get('n');
    const route = settings.target('r');
    const routeForStages: RouteSettings | undefined = route;
    const models: (ModelSettings | undefined)[] = [
      routeForStages?.chain[1],
      route?.chain_by_priority.low?.[0],
      route?.shed_to.low,
      settings.target('n')?.chain[0],
    ];
    for (const model of models) expect(model).toBe(n);
    expect(n?.provider).toBe(settings.providers.get('p'));
    expect(settings.embedding).toEqual({ kind: 'endpoint', provider: settings.providers.get('p'), model: 'e' });
  });
});

describe('target', () => {
  it('makes a route of a model alone, always the same', () => {
    const settings = settingsOf({
      routes: { r: { chain: ['m'], fallback_response: { low: '' }, cache: { exact: false } } },
    });
    expect(settings.target('m')).toMatchObject({
      name: 'm',
      chain: [{ name: 'm' }],
      fallback_response: { low: null },
      cache: { exact: true },
    });
    expect(settings.target('m')).toBe(settings.target('m'));
    expect(settings.target('r')?.fallback_response.low).toBe('');
  });

  it.each(['x', 'constructor', '__proto__', ''])('knows no %j', name => {
    expect(settingsOf({}).target(name)).toBeUndefined();
    expect(settingsOf({}).isConfigured(name)).toBe(false);
  });

  it('passes unknown names through where that is configured', () => {
    const settings = settingsOf({ passthrough: 'p' });
    const route = settings.target('x');
    expect(route).toMatchObject({ name: 'x', chain: [{ name: 'x', upstream_model: 'x', metric_label: 'other' }] });
    expect(route?.chain[0]?.provider).toBe(settings.providers.get('p'));
    expect(settings.target('x')).toBe(route);
    expect(settings.target('m')?.chain[0]?.metric_label).toBe('m');
    expect([settings.isConfigured('x'), settings.isConfigured('m'), settings.isConfigured('r')]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it.each(['', 'a\nb', 'x'.repeat(129)])('passes no name through that is none: %j', name => {
    expect(settingsOf({ passthrough: 'p' }).target(name)).toBeUndefined();
  });

  it('forgets names that callers made up', () => {
    const settings = settingsOf({ passthrough: 'p' });
    const first = settings.target('x');
    for (let index = 0; index < 1000; index++) settings.target(`x${index}`);
    expect(settings.target('x')).not.toBe(first);
  });
});

describe('sizes', () => {
  it.each([
    ['10mb', 10_485_760],
    ['512KB', 524_288],
    ['1.5 mb', 1_572_864],
    ['7b', 7],
    [4096, 4096],
  ])('%j', (body_limit, bytes) => {
    expect(settingsOf({ server: { body_limit } }).server.body_limit).toBe(bytes);
  });
});
