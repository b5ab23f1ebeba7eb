import { ApiClient, until, type Reply } from '../support/api-client';
import { startInstallation, type Installation } from '../support/installation';
import { LOSES_REDIS } from '../support/open-redis';
import type { SpillwayProcess } from '../support/spillway';

const configuration = {
  models: { m: { provider: 'simulator' }, other: { provider: 'simulator' } },
  routes: { assistant: { chain: ['m'] } },
  keys: [
    { name: 'a', key: 'KEY_A' },
    { name: 'b', key: 'KEY_B', routes: ['assistant'] },
  ],
};

interface JobBody {
  readonly id: string;
  readonly status: string;
  readonly created_at?: number;
  readonly response?: { readonly choices: readonly { readonly message: { readonly content: string } }[] };
  readonly error?: { readonly code: string; readonly message: string };
}

const jobIn = ({ body }: Reply): JobBody => body as unknown as JobBody;

describe('a call that is answered later', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await startInstallation();
  });

  afterEach(() => installation.clear());
  afterAll(() => installation.stop());

  const start = async (settings: object = {}): Promise<{ process: SpillwayProcess; client: ApiClient }> => {
    const process = await installation.start('all', { ...configuration, ...settings });
    return { process, client: new ApiClient(process.url, 'KEY_A') };
  };
  const submit = (client: ApiClient, content: string, more: { path?: string; headers?: object; body?: object } = {}) =>
    client.send({
      path: more.path ?? '/v1/chat/completions',
      headers: { prefer: 'respond-async', ...more.headers },
      body: { model: 'assistant', messages: [{ role: 'user', content }], ...more.body },
    });
  const look = (client: ApiClient, id: string, { key = 'KEY_A', base = '', method = 'GET' } = {}): Promise<Reply> =>
    client.request(method, `${base}/v1/jobs/${id}`, { authorization: `Bearer ${key}` });
  const ended = async (client: ApiClient, id: string): Promise<JobBody> => {
    await until(async () => !['queued', 'running'].includes(jobIn(await look(client, id)).status), 20_000);
    return jobIn(await look(client, id));
  };
  const logOf = async (process: SpillwayProcess, requestId: string): Promise<Record<string, unknown>> => {
    let line: Record<string, unknown> | undefined;
    const find = (): boolean =>
      (line = process.logLines().find(each => each['request_id'] === requestId && 'outcome' in each)) !== undefined;
    await until(find);
    return line ?? {};
  };

  it('is accepted at once, walks the whole path, and keeps its answer for the key that asked', async () => {
    const { process, client } = await start();
    const accepted = await submit(client, 'one', {
      headers: { 'x-request-id': 'later-1', prefer: 'handling=strict, Respond-Async' },
    });
    expect(accepted.status).toBe(202);
    const { id } = jobIn(accepted);
    expect(accepted.body).toEqual({ id, status: 'queued' });
    expect(accepted.headers.get('location')).toBe(`/v1/jobs/${id}`);
    expect(accepted.headers.get('preference-applied')).toBe('respond-async');
    expect(accepted.headers.get('x-request-id')).toBe('later-1');

    const job = await ended(client, id);
    expect(job).toEqual({ id, status: 'succeeded', created_at: expect.any(Number), response: expect.any(Object) });
    expect(Math.abs((job.created_at ?? 0) - Date.now() / 1000)).toBeLessThan(60);
    expect(job.response?.choices[0]?.message.content).toContain('one');
    expect(await logOf(process, 'later-1')).toMatchObject({
      key: 'a',
      priority: 'low',
      outcome: 'generated',
      model: 'm',
    });
    expect(installation.simulator.requests('m')).toHaveLength(1);

    expect((await look(client, id, { key: 'KEY_B' })).status).toBe(404);
    expect((await look(client, id, { key: 'KEY_B', method: 'DELETE' })).status).toBe(404);
    expect((await look(client, id, { key: 'nobody' })).status).toBe(401);
    expect((await look(client, 'call_unknown')).body.error?.code).toBe('not_found');
    expect((await look(client, id, { base: '/low' })).status).toBe(200);
    // The same question with a client that waits: the answer was kept by the cache as well.
    const again = await client.send({ body: { model: 'assistant', messages: [{ role: 'user', content: 'one' }] } });
    expect(again.headers.get('x-spillway-outcome')).toBe('cache-exact');
  });

  it('keeps the class that it names, by path, header or tier', async () => {
    const { process, client } = await start();
    const jobs = await Promise.all([
      submit(client, 'by path', { path: '/critical/v1/chat/completions', headers: { 'x-request-id': 'critical' } }),
      submit(client, 'by header', { headers: { 'x-request-id': 'normal', 'x-spillway-priority': 'normal' } }),
      submit(client, 'by tier', { headers: { 'x-request-id': 'critical-2' }, body: { service_tier: 'fast' } }),
    ]);
    for (const { body } of jobs) await ended(client, body.id ?? '');
    const lines = await Promise.all(['critical', 'normal', 'critical-2'].map(id => logOf(process, id)));
    expect(lines.map(line => line['priority'])).toEqual(['critical', 'normal', 'critical']);
  });

  it('is refused at once where it cannot be run, with the reason', async () => {
    const refusals: [string, Parameters<typeof submit>[2], number, string][] = [
      ['a stream', { body: { stream: true } }, 400, 'invalid_request'],
      ['an unknown model', { body: { model: 'nothing' } }, 404, 'model_not_found'],
      ['no messages', { body: { messages: [] } }, 400, 'invalid_request'],
      ['an unknown class', { headers: { 'x-spillway-priority': 'high' } }, 400, 'invalid_request'],
      ['an unknown key', { headers: { authorization: 'Bearer nobody' } }, 401, 'invalid_api_key'],
      [
        'a model that the key may not use',
        { headers: { authorization: 'Bearer KEY_B' }, body: { model: 'other' } },
        403,
        'not_allowed',
      ],
      [
        'a callback without a secret',
        { headers: { 'x-spillway-callback-url': 'https://hooks.example/' } },
        400,
        'invalid_request',
      ],
    ];
    const { client } = await start();
    for (const [what, request, status, code] of refusals) {
      const refused = await submit(client, 'no', request);
      expect([what, refused.status, refused.body.error?.code]).toEqual([what, status, code]);
    }
  });

  it('is cancelled while it runs: the call of the model ends', async () => {
    const { client } = await start();
    installation.simulator.configure('m', { latency: { first_token_ms: 60_000 } });
    const { id } = jobIn(await submit(client, 'long'));
    await until(() => installation.simulator.requests('m').length === 1);
    expect(jobIn(await look(client, id)).status).toBe('running');
    const cancelled = await look(client, id, { method: 'DELETE' });
    expect([cancelled.status, jobIn(cancelled).status]).toEqual([200, 'cancelled']);
    await until(() => installation.simulator.stats()['m']?.aborted === 1);
    expect(jobIn(await look(client, id))).toEqual({ id, status: 'cancelled', created_at: expect.any(Number) });
  });

  it('waits for its turn as long as it takes, whatever deadline it came with', async () => {
    const slow = {
      models: { m: { provider: 'simulator', limits: { inflight: 1 }, headroom: 0 } },
      priorities: { low: { max_wait_ms: 50, deadline_ms: 100, share: 1 } },
    };
    const { client } = await start(slow);
    installation.simulator.configure('m', { latency: { first_token_ms: 300 } });
    const headers = { 'x-spillway-deadline-ms': '10', 'x-spillway-max-wait-ms': '10', 'x-stainless-timeout': '1' };
    const jobs = await Promise.all([1, 2, 3, 4].map(index => submit(client, `patient ${index}`, { headers })));
    for (const job of jobs) expect((await ended(client, jobIn(job).id)).status).toBe('succeeded');
    expect(installation.simulator.requests('m')).toHaveLength(4);
  });

  it('tells what the model refused, is listed for the operator, and can begin anew', async () => {
    const { client } = await start();
    installation.simulator.configure('m', { faults: [{ kind: 'status', status: 400 }] });
    const { id } = jobIn(await submit(client, 'refused'));
    const failed = await ended(client, id);
    expect(failed).toMatchObject({ id, status: 'failed', error: { message: expect.any(String) } });
    const listed = (await (await fetch(`${client.url}/admin/jobs?state=failed`)).json()) as { jobs: object[] };
    expect(listed.jobs).toMatchObject([{ id, kind: 'call', key: 'a', status: 'failed', attempts: 1 }]);
    expect(JSON.stringify(listed)).not.toContain('"refused"');
    expect(await client.metric('spillway_jobs', { kind: 'call', state: 'failed' })).toBe(1);

    installation.simulator.configure('m', { faults: [] });
    const retried = await client.request('POST', `/admin/jobs/${id}/retry`);
    expect(retried.status).toBe(200);
    expect((await ended(client, id)).status).toBe('succeeded');
    expect((await client.request('POST', `/admin/jobs/${id}/retry`)).status).toBe(404);
    expect(await client.metric('spillway_jobs_ended_total', { kind: 'call', status: 'succeeded' })).toBe(1);
  });

  it('is asked of one process, run by a worker, and seen at any', async () => {
    const [one, other] = await Promise.all([
      installation.start('gateway', configuration),
      installation.start('gateway', configuration),
      installation.start('worker', configuration),
    ]);
    const { id } = jobIn(await submit(new ApiClient(one.url, 'KEY_A'), 'elsewhere'));
    const job = await ended(new ApiClient(other.url, 'KEY_A'), id);
    expect(job.response?.choices[0]?.message.content).toContain('elsewhere');
  });

  it('is refused when too many wait', async () => {
    const { client } = await start({ async: { queue_limit: 0 } });
    const refused = await submit(client, 'too many');
    expect([refused.status, refused.body.error?.code]).toEqual([429, 'queue_full']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('is refused while Redis is lost, rather than promised', async () => {
    const { client } = await start({ redis: LOSES_REDIS });
    installation.redis.kill('SIGSTOP');
    try {
      await until(async () => (await submit(client, 'lost')).status === 503);
      expect((await submit(client, 'lost')).body.error?.code).toBe('part_lost');
    } finally {
      installation.redis.kill('SIGCONT');
    }
    await until(async () => (await submit(client, 'back')).status === 202);
  });
});
