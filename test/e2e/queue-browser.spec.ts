import { ask, callerOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { eventually } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const ADMIN_KEY = 'sk-admin-eeff00112233';
const PROMPT = 'swordfish';
const CONFIGURATION = {
  models: { slow: { provider: 'simulator', limits: { inflight: 1 }, headroom: 0 } },
  routes: { narrow: { chain: ['slow'], cache: { exact: false } } },
  admin: { key: ADMIN_KEY },
};

interface Ticket {
  readonly ticket: string;
  readonly owner: string;
  readonly models: readonly string[];
  readonly waitedMs: number;
  readonly leftMs: number;
  readonly reached: boolean;
}

interface Queue {
  readonly depth: number;
  readonly oldestMs: number | null;
  readonly tickets: readonly Ticket[];
  readonly jobs: Readonly<Record<string, number>> | null;
}

interface Jobs {
  readonly queued: number;
  readonly running: number;
  readonly failed: number;
  readonly jobs: readonly object[];
}

type Queues = Readonly<Record<'critical' | 'normal' | 'low', Queue>> & {
  readonly jobs: Readonly<Record<string, Jobs>>;
};

describe('the queue browser', () => {
  let installation: Installation;
  let gateway: SpillwayProcess;
  let other: SpillwayProcess;

  beforeAll(async () => {
    installation = await startInstallation();
    [gateway, other] = await Promise.all([
      installation.start('all', CONFIGURATION),
      installation.start('all', CONFIGURATION),
    ]);
    installation.simulator.configure('slow', { latency: { first_token_ms: 1_200, tokens_per_s: 0 } });
  });

  afterAll(() => installation.stop());

  const look = (query = '', headers: Record<string, string> = {}): Promise<Response> => {
    const authorization = { authorization: `Bearer ${ADMIN_KEY}`, accept: 'application/json' };
    return fetch(`${gateway.url}/admin/queues${query}`, { headers: { ...authorization, ...headers } });
  };
  const queues = async (query = ''): Promise<Queues> => (await (await look(query)).json()) as Queues;

  it('shows who waits in which class, for what and how long, in all processes, and never for what question', async () => {
    const callOf = (url: string, path: string) => ask(callerOf(url, { path }), 'narrow', PROMPT);
    const calls = [callOf(gateway.url, '/v1')];
    await eventually(async () => installation.simulator.requests().length > 0);
    calls.push(callOf(gateway.url, '/low/v1'), callOf(other.url, '/low/v1'));
    await eventually(async () => (await queues()).low.tickets.filter(({ reached }) => reached).length === 2);

    const { critical, normal, low } = await queues();
    expect([critical.depth, normal.depth, low.depth]).toEqual([0, 0, 2]);
    for (const ticket of low.tickets) {
      expect(ticket).toMatchObject({ models: ['slow'], reached: true });
      expect(ticket.waitedMs + ticket.leftMs).toBeGreaterThan(55_000);
      expect(ticket.ticket).toContain(ticket.owner);
    }
    expect(new Set(low.tickets.map(({ owner }) => owner)).size).toBe(2);
    expect(low.oldestMs).toBe(Math.max(...low.tickets.map(({ waitedMs }) => waitedMs)));
    expect(low.jobs).toEqual(expect.objectContaining({ waiting: 0, active: expect.any(Number) as number }));
    expect((await queues('?limit=1')).low).toMatchObject({ depth: 2, tickets: [expect.anything()] });
    expect(await (await look()).text()).not.toContain(PROMPT);
    await Promise.all(calls);
  });

  it('shows jobs that run or wait, and never what they ask', async () => {
    const ask = (): Promise<Response> =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', prefer: 'respond-async' },
        body: JSON.stringify({ model: 'narrow', messages: [{ role: 'user', content: PROMPT }] }),
      });
    const { id } = (await (await ask()).json()) as { id: string };
    await eventually(async () => (await queues()).jobs['call']?.running === 1);
    const { jobs } = await queues();
    expect(jobs['call']).toMatchObject({ queued: 0, failed: 0, jobs: [{ id, key: 'anonymous', status: 'running' }] });
    expect(jobs['seed']).toEqual({ queued: 0, running: 0, failed: 0, jobs: [] });
    expect(await (await look()).text()).not.toContain(PROMPT);
    await eventually(async () => (await queues()).jobs['call']?.running === 0);
  });

  it.each(['-1', '1001', 'all'])('refuses limit=%s', async limit => {
    expect((await look(`?limit=${limit}`)).status).toBe(400);
  });

  it('sends a browser to the console, which asks for the key, and tells it nothing', async () => {
    const response = await fetch(`${gateway.url}/admin/queues`, {
      headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
      redirect: 'manual',
    });
    expect([response.status, response.headers.get('location'), await response.text()]).toEqual([303, '/ui#queues', '']);
  });

  it('tells nothing to whoever has no key', async () => {
    for (const accept of ['application/json', '*/*', '']) {
      expect((await look('', { authorization: 'Bearer wrong', accept })).status).toBe(401);
    }
    expect(
      (await fetch(`${gateway.url}/admin/queues`, { method: 'HEAD', headers: { accept: 'text/html' } })).status,
    ).toBe(401);
  });
});
