import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, askForStream, callerOf, failureOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { eventually } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const KEY = 'sk-caller-11223344556677';
const SMALL_KEY = 'sk-small-99887766554433';
const PROVIDER_KEY = 'sk-provider-8899aabbccdd';
const ADMIN_KEY = 'sk-admin-eeff00112233';
const PROMPT = 'My password is swordfish-42, is that safe?';

const configuration = (simulatorUrl: string, changes: object = {}): object => ({
  providers: { simulator: { base_url: simulatorUrl, api_key: PROVIDER_KEY } },
  models: {
    good: { provider: 'simulator', price: { input: 2, output: 8 } },
    bad: { provider: 'simulator' },
    limited: { provider: 'simulator', limits: { rpm: 100 }, climb: { mode: 'on' } },
  },
  routes: {
    assistant: { chain: ['good'] },
    shaky: { chain: ['bad', 'good'] },
    broken: { chain: ['bad'], fallback_response: { critical: 'Sorry, not now.' } },
  },
  keys: [
    { name: 'shop', key: KEY },
    { name: 'small', key: SMALL_KEY, limits: { rpm: 1 } },
  ],
  admin: { key: ADMIN_KEY },
  log: { level: 'trace' },
  ...changes,
});

describe('what operators see', () => {
  let installation: Installation;
  let process: SpillwayProcess;

  beforeAll(async () => {
    installation = await startInstallation();
    process = await installation.start('all', configuration(installation.simulator.url));
    installation.simulator.configure('bad', { faults: [{ kind: 'status', status: 500 }] });
    await makeCalls(process.url);
  });

  afterAll(() => installation.stop());

  /** One call of each kind. */
  const makeCalls = async (url: string): Promise<void> => {
    const caller = callerOf(url, { key: KEY });
    const named = (id: string) => ({ headers: { 'x-request-id': id, 'x-spillway-user': 'user-4711' } });
    await ask(caller, 'assistant', PROMPT, named('generated'));
    await sleep(200);
    await ask(caller, 'assistant', PROMPT, named('cached'));
    await askForStream(caller, 'assistant', `${PROMPT} Slowly.`, named('streamed'));
    await caller.embeddings.create({ model: 'assistant', input: PROMPT }, named('embedded'));
    await ask(caller, 'shaky', PROMPT, named('other-model'));
    await failureOf(ask(caller, 'broken', PROMPT, named('failed')));
    await ask(callerOf(url, { key: KEY, path: '/critical/v1' }), 'broken', PROMPT, named('excused'));
    await failureOf(ask(caller, 'no-such-model', PROMPT, named('unknown-model')));
    await failureOf(
      ask(caller, 'assistant', PROMPT, { headers: { ...named('invalid').headers, 'x-spillway-priority': 'x' } }),
    );
    await ask(callerOf(url, { key: SMALL_KEY }), 'limited', PROMPT);
    await failureOf(ask(callerOf(url, { key: SMALL_KEY }), 'limited', PROMPT));
    await failureOf(ask(callerOf(url, { key: 'sk-guessed-key-123' }), 'assistant', PROMPT, named('stranger')));
  };
  const lineOf = async (id: string): Promise<Record<string, unknown>> => {
    const lines = (): Record<string, unknown>[] =>
      process.logLines().filter(line => line['request_id'] === id && 'outcome' in line);
    await eventually(() => lines().length > 0);
    expect(lines()).toHaveLength(1);
    return lines()[0] ?? {};
  };

  describe('in the log', () => {
    it('one line for a call, with all that is to be known of it', async () => {
      const { text } = await ask(callerOf(process.url, { key: KEY }), 'assistant', 'what is in the log?', {
        headers: {
          'x-request-id': 'looked-at',
          traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        },
      });
      const hash = (value: string): string => createHash('sha256').update(value).digest('hex').slice(0, 16);
      expect(await lineOf('looked-at')).toEqual({
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
        request_id: 'looked-at',
        trace_id: '0af7651916cd43dd8448eb211c80319c',
        key: 'shop',
        operation: 'chat',
        route: 'assistant',
        priority: 'normal',
        outcome: 'generated',
        status: 200,
        code: null,
        cache: 'MISS',
        cache_tier: null,
        cache_rule: null,
        similarity: null,
        similarity_reason: null,
        similarity_fate: null,
        model: 'good',
        attempts: 1,
        hedge: null,
        queue_ms: expect.any(Number) as number,
        upstream_ms: expect.any(Number) as number,
        duration_ms: expect.any(Number) as number,
        tokens: { input: expect.any(Number) as number, output: expect.any(Number) as number },
        prompt_hash: hash('what is in the log?'),
        response_hash: hash(text),
        response_snippet: `${text.slice(0, 20)} … ${text.slice(-20)}`,
      });
    });

    it.each([
      ['cached', { outcome: 'cache-exact', status: 200, cache: 'HIT', cache_tier: 'exact', attempts: 0, tokens: null }],
      ['streamed', { outcome: 'generated', status: 200, model: 'good', response_hash: expect.any(String) as string }],
      ['embedded', { outcome: 'generated', status: 200, operation: 'embeddings' }],
      [
        'other-model',
        { outcome: 'fallback-model', status: 200, model: 'good', attempts: 2, failures: { bad: 'server' } },
      ],
      [
        'failed',
        { outcome: 'upstream-failed', status: 502, code: 'upstream_error', model: null, failures: { bad: 'server' } },
      ],
      ['excused', { outcome: 'fallback-response', status: 200, priority: 'critical' }],
      ['unknown-model', { outcome: 'rejected-invalid', status: 404, code: 'model_not_found', priority: 'normal' }],
      ['invalid', { outcome: 'rejected-invalid', status: 400 }],
      ['stranger', { outcome: 'rejected-auth', status: 401 }],
    ])('a call that was %s', async (id, fields) => {
      expect(await lineOf(id)).toMatchObject(fields);
    });

    it('never a key, a prompt or a user, at the most talkative level either', async () => {
      await lineOf('stranger');
      for (const secret of [
        KEY,
        SMALL_KEY,
        PROVIDER_KEY,
        ADMIN_KEY,
        'sk-guessed',
        'swordfish',
        'My password',
        'user-4711',
      ]) {
        expect(process.output()).not.toContain(secret);
      }
    });
  });

  it('answers show in the log by their ends, unless that is switched off', async () => {
    const silent = await installation.start(
      'all',
      configuration(installation.simulator.url, { log: { snippets: false } }),
    );
    await ask(callerOf(silent.url, { key: KEY }), 'assistant', 'quietly');
    await eventually(() => silent.logLines().some(line => line['outcome'] === 'generated'));
    expect(silent.output()).toContain('response_hash');
    expect(silent.output()).not.toContain('response_snippet');
    expect(silent.output()).not.toContain('simulator, not');
  });

  it('the state of queues, models, caches and parts, at one look', async () => {
    const response = await fetch(`${process.url}/admin/status`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
    const some = expect.any(Number) as number;
    expect(await response.json()).toMatchObject({
      queues: { critical: 0, normal: 0, low: 0 },
      models: { good: { inflight: 0, limits: [], binds: null }, bad: { inflight: 0 } },
      caches: { exact: { entries: some, bytes: some }, lookups: { exact: { hit: some, miss: some } } },
      parts: { redis: 'ok' },
    });
  });

  describe('in the metrics', () => {
    let text: string;

    beforeAll(async () => {
      const headers = { authorization: `Bearer ${ADMIN_KEY}` };
      const response = await fetch(`${process.url}/metrics`, { headers });
      text = await response.text();
    });

    /** The value of one series; a part of its labels is enough. */
    const value = (name: string, labels: Readonly<Record<string, string>>): number | undefined => {
      const series = text.split('\n').find(line => {
        const found = /^(\w+)(?:\{(.*)\})? /.exec(line);
        return (
          found?.[1] === name && Object.entries(labels).every(([label, is]) => found[2]?.includes(`${label}="${is}"`))
        );
      });
      return series === undefined ? undefined : Number(series.slice(series.lastIndexOf(' ')));
    };

    it.each([
      ['assistant', 'normal', 'cache-exact', 1],
      ['shaky', 'normal', 'fallback-model', 1],
      ['broken', 'normal', 'upstream-failed', 1],
      ['broken', 'critical', 'fallback-response', 1],
      ['none', 'none', 'rejected-auth', 1],
      ['none', 'none', 'rejected-invalid', 1],
      ['none', 'normal', 'rejected-invalid', 1],
    ])('calls of route %s, class %s, outcome %s: %i', (route, priority, outcome, count) => {
      expect(value('spillway_requests_total', { route, priority, outcome })).toBe(count);
      expect(value('spillway_request_duration_seconds_count', { priority, outcome })).toBeGreaterThanOrEqual(count);
    });

    it.each([
      ['ai_request_total', { model: 'good', status: '200' }],
      ['ai_request_total', { model: 'bad', status: '500' }],
      ['ai_token_consumed_total', { model: 'good', direction: 'input' }],
      ['ai_token_consumed_total', { model: 'good', direction: 'output' }],
      ['spillway_queue_wait_seconds_count', { priority: 'normal' }],
      ['spillway_cache_lookups_total', { level: 'exact', result: 'hit' }],
      ['spillway_cache_lookups_total', { level: 'exact', result: 'miss' }],
      ['spillway_upstream_duration_seconds_count', { model: 'good' }],
      ['spillway_time_to_first_token_seconds_count', { model: 'good' }],
      [
        'gen_ai_client_operation_duration_seconds_count',
        { gen_ai_request_model: 'good', gen_ai_operation_name: 'chat' },
      ],
      ['gen_ai_client_token_usage_count', { gen_ai_request_model: 'good', gen_ai_token_type: 'output' }],
      ['process_cpu_seconds_total', {}],
    ])('%s %j counts', (name, labels) => {
      expect(value(name, labels)).toBeGreaterThan(0);
    });

    it('what answers cost, by the price of a million tokens', () => {
      const tokens = (direction: string): number => value('ai_token_consumed_total', { model: 'good', direction }) ?? 0;
      const cost = (2 * tokens('input') + 8 * tokens('output')) / 1e6;
      expect(value('spillway_cost_total', { model: 'good' })).toBeCloseTo(cost, 9);
      expect(value('spillway_cost_total', { model: 'limited' })).toBeUndefined();
    });

    it.each([
      'ai_request_total{model,status}',
      'ai_token_consumed_total{model,direction}',
      'circuit_breaker_state{service}',
      'ratelimit_requests_rejected_total{policy}',
      'ratelimit_remaining{model,limit}',
      'spillway_requests_total{route,priority,outcome}',
      'spillway_request_duration_seconds_count{priority,outcome}',
      'spillway_queue_depth{priority}',
      'spillway_queue_wait_seconds_count{priority}',
      'spillway_cache_lookups_total{level,result}',
      'spillway_model_rate{model}',
      'spillway_upstream_duration_seconds_count{model}',
      'spillway_time_to_first_token_seconds_count{model}',
    ])('%s has its name and these labels', series => {
      const [, name = '', labels = ''] = /^(\w+)\{(.*)\}$/.exec(series) ?? [];
      const found = new RegExp(`^${name}\\{(.*)\\} `, 'm').exec(text)?.[1] ?? '';
      const told = [...found.matchAll(/(\w+)="/g)].map(([, label]) => label);
      expect(new Set(told)).toEqual(new Set(labels.split(',')));
    });

    it.each([
      ['circuit_breaker_state', { service: 'redis' }],
      ['spillway_queue_depth', { priority: 'critical' }],
      ['spillway_queue_depth', { priority: 'normal' }],
      ['spillway_queue_depth', { priority: 'low' }],
    ])('%s %j is at rest', (name, labels) => {
      expect(value(name, labels)).toBe(0);
    });

    it('no label shows a key, a prompt, a user or a name that a caller made up', () => {
      for (const secret of [KEY, PROVIDER_KEY, ADMIN_KEY, 'swordfish', 'user-4711', 'no-such-model', 'shop']) {
        expect(text).not.toContain(secret);
      }
    });
  });
});
