import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, until } from '../support/api-client';
import { startInstallation, type Installation } from '../support/installation';
import { textOf } from '../support/seeder';
import type { SpillwayProcess } from '../support/spillway';

/** SPILLWAY_TEST_JOBS=1000 for the whole of what is promised. */
const JOBS = Number(process.env['SPILLWAY_TEST_JOBS'] ?? 200);
const CONCURRENCY = 10;
const SEEDS = 200;
/** Of the seeds of one text in one process. */
const SEEDS_AT_ONCE = 4;

const configuration = (model: object = {}): object => ({
  models: { m: { provider: 'simulator', ...model }, seeded: { provider: 'simulator' } },
  routes: { assistant: { chain: ['m'] } },
  async: { concurrency: CONCURRENCY },
  server: { drain_ms: 500 },
});

interface SeedStatus {
  readonly state: string;
  readonly done: number;
  readonly failed: number;
}

describe('jobs, when what runs them dies', () => {
  let installation: Installation;
  let unsure = 0;

  beforeAll(async () => {
    installation = await startInstallation({ durable: true });
  });

  afterEach(() => installation.clear());
  afterAll(() => installation.stop());

  const clientOf = ({ url }: SpillwayProcess): ApiClient => new ApiClient(url, 'none');
  const submit = async (client: ApiClient, content: string): Promise<string> => {
    const body = { model: 'assistant', messages: [{ role: 'user', content }] };
    let accepted = await client.send({ headers: { prefer: 'respond-async' }, body });
    // A Redis that writes every job to its disk may be too slow for a moment; what it took then may run beside.
    for (; accepted.status === 503; unsure++) {
      await sleep(500);
      accepted = await client.send({ headers: { prefer: 'respond-async' }, body });
    }
    if (accepted.status !== 202 || accepted.body.id === undefined) throw new Error(`not accepted: ${accepted.raw}`);
    return accepted.body.id;
  };
  const statusOf = async (client: ApiClient, id: string): Promise<string> => {
    const { body } = await client.get(`/v1/jobs/${id}`);
    return (body as { status?: string }).status ?? 'unknown';
  };
  const statuses = async (client: ApiClient, ids: readonly string[]): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const id of ids) {
      const status = await statusOf(client, id);
      counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  };
  const sow = async ({ url }: SpillwayProcess, lines: readonly object[]): Promise<string> => {
    const headers = { 'content-type': 'application/x-ndjson' };
    const response = await fetch(`${url}/admin/seed?route=seeded`, { method: 'POST', headers, body: textOf(lines) });
    if (response.status !== 202) throw new Error(`not accepted: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  };
  const seedOf = async (client: ApiClient, id: string): Promise<SeedStatus> =>
    JSON.parse((await client.get(`/admin/seed/${id}`)).raw) as SeedStatus;
  const asked = (model = 'm'): number => installation.simulator.requests(model).length;

  it(`all of ${JOBS} finish, and ${SEEDS} seeds, although every process and Redis are killed in the middle`, async () => {
    const roles = ['gateway', 'worker', 'worker'] as const;
    const begin = (): Promise<SpillwayProcess[]> =>
      Promise.all(roles.map(role => installation.start(role, configuration())));
    installation.simulator.configure('m', { latency: { first_token_ms: 100 } });
    const first = await begin();
    const [gateway] = first as [SpillwayProcess];
    const client = clientOf(gateway);
    installation.simulator.configure('seeded', { latency: { first_token_ms: 100 } });
    const seed = await sow(
      gateway,
      Array.from({ length: SEEDS }, (_, scope) => ({ scope, question: 'Does it float?' })),
    );
    const ids: string[] = [];
    for (let index = 0; index < JOBS; index += 20) {
      const batch = Array.from({ length: Math.min(20, JOBS - index) }, (_, offset) => index + offset);
      ids.push(...(await Promise.all(batch.map(number => submit(client, `question ${number}`)))));
    }
    await until(async () => asked() > JOBS / 4 && (await seedOf(client, seed)).done > SEEDS / 10, 30_000);
    for (const process of first) process.kill('SIGKILL');
    installation.redis.kill('SIGKILL');
    expect(asked()).toBeLessThan(JOBS);
    expect(asked('seeded')).toBeLessThan(SEEDS);
    await installation.redis.restart();

    const again = clientOf((await begin())[0] as SpillwayProcess);
    const restartedAt = Date.now();
    await until(async () => (await statuses(again, ids.slice(-20)))['succeeded'] === 20, 60_000);
    let ends: Record<string, number> = {};
    await until(async () => (ends = await statuses(again, ids))['succeeded'] === JOBS, 120_000);
    // What the killed had begun is begun again within twelve seconds; the rest is for the others, and a busy machine.
    expect(Date.now() - restartedAt).toBeLessThan(25_000 + 20 * JOBS);
    expect(ends).toEqual({ succeeded: JOBS });
    expect(new Set(ids).size).toBe(JOBS);
    // Only what was under way may have been asked again.
    expect(asked()).toBeLessThanOrEqual(JOBS + 2 * CONCURRENCY + unsure);
    await until(async () => (await seedOf(again, seed)).state === 'succeeded', 60_000);
    expect(await seedOf(again, seed)).toMatchObject({ done: SEEDS, failed: 0 });
    expect(asked('seeded')).toBeLessThanOrEqual(SEEDS + SEEDS_AT_ONCE);
  }, 300_000);

  it('a worker that is told to stop hands back what it cannot finish, for another to begin at once', async () => {
    const [gateway, stopping] = await Promise.all([
      installation.start('gateway', configuration()),
      installation.start('worker', configuration()),
    ]);
    installation.simulator.configure('m', { latency: { first_token_ms: 60_000 } });
    const client = clientOf(gateway);
    const id = await submit(client, 'long');
    await until(() => asked() === 1);
    installation.simulator.configure('m', { latency: { first_token_ms: 0 } });
    expect(await stopping.stop()).toBe(0);
    expect(await statusOf(client, id)).toBe('queued');
    await installation.start('worker', configuration());
    await until(async () => (await statusOf(client, id)) === 'succeeded');
    expect(asked()).toBe(2);
  });

  it('a worker that is blocked for seconds keeps its jobs: none is begun twice', async () => {
    const [gateway, blocked] = await Promise.all([
      installation.start('gateway', configuration()),
      installation.start('worker', configuration()),
    ]);
    installation.simulator.configure('m', { latency: { first_token_ms: 3_000 } });
    const client = clientOf(gateway);
    const id = await submit(client, 'long');
    await until(() => asked() === 1);
    await installation.start('worker', configuration());
    blocked.kill('SIGSTOP');
    await sleep(6_000);
    blocked.kill('SIGCONT');
    await until(async () => (await statusOf(client, id)) === 'succeeded');
    expect(asked()).toBe(1);
  }, 60_000);
});
