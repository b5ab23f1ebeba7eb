import type OpenAI from 'openai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, askForStream, callerOf } from '../support/caller';
import { startFakeQdrant, type FakeQdrant } from '../support/fake-qdrant';
import { startInstallation, type Installation } from '../support/installation';
import { eventually } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const ASKED = 'How do I log in to the portal?';
const REWORDED = 'How do I sign into the portal?';
const TRAP = 'How do I log out of the portal?';

const KEYS = [
  { name: 'web', key: 'sk-web-0123456789', team: 'shop' },
  { name: 'app', key: 'sk-app-0123456789', team: 'shop' },
  { name: 'lone', key: 'sk-lone-0123456789' },
];
const configuration = (more: object = {}): object => ({
  models: { m: { provider: 'simulator' } },
  routes: { assistant: { chain: ['m'] } },
  keys: KEYS,
  ...more,
});
/** What is kept is written after the answer, to disk within a tenth of a second. */
const written = (): Promise<void> => sleep(400);

describe('a question that was asked before in other words', () => {
  let installation: Installation;
  let qdrant: FakeQdrant;
  let folder: string;

  beforeAll(async () => {
    [installation, qdrant] = await Promise.all([startInstallation(), startFakeQdrant()]);
    folder = mkdtempSync(join(tmpdir(), 'spillway-vectors-'));
  });
  afterEach(() => installation.clear());
  afterAll(async () => {
    await installation.stop();
    await qdrant.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const callerAt = ({ url }: SpillwayProcess, name = 'web'): OpenAI =>
    callerOf(url, { key: KEYS.find(key => key.name === name)?.key ?? '' });
  const cacheOf = async (caller: OpenAI, question: string, headers = {}): Promise<string> =>
    (await ask(caller, 'assistant', question, { headers })).headers.get('x-spillway-cache') ?? '';
  /** Looks without asking the model, so that a miss leaves nothing behind. */
  const isFound = async (caller: OpenAI, question: string): Promise<boolean> => {
    const found = cacheOf(caller, question, { 'cache-control': 'only-if-cached' });
    return (await found.catch(() => '')) === 'SEMANTIC_HIT';
  };
  const modelCalls = (): number => installation.simulator.requests('m').length;

  it('is answered without the model, streaming or not, and says so in header, log and metric', async () => {
    const spillway = await installation.start('all', configuration(), { REDIS_URL: '' });
    const caller = callerAt(spillway);
    const first = await ask(caller, 'assistant', ASKED);
    await written();
    const hit = await ask(caller, 'assistant', REWORDED, { headers: { 'x-request-id': 'reworded' } });
    const streamed = await askForStream(caller, 'assistant', REWORDED);
    expect([hit.text, streamed.text]).toEqual([first.text, first.text]);
    expect(modelCalls()).toBe(1);
    expect(Object.fromEntries(hit.headers)).toMatchObject({
      'x-spillway-outcome': 'cache-semantic',
      'x-spillway-cache': 'SEMANTIC_HIT',
      'x-spillway-cache-tier': 'semantic',
      'x-spillway-similarity': expect.stringMatching(/^0\.\d{4}$/),
      'x-spillway-attempts': '0',
      age: expect.stringMatching(/^\d+$/),
    });
    expect(await cacheOf(caller, TRAP)).toBe('MISS');
    expect(await cacheOf(callerAt(spillway, 'app'), REWORDED)).toBe('MISS');

    await eventually(() => spillway.logLines().some(line => line['request_id'] === 'reworded'));
    expect(spillway.logLines().find(line => line['request_id'] === 'reworded')).toMatchObject({
      cache: 'SEMANTIC_HIT',
      cache_tier: 'semantic',
      similarity: Number(hit.headers.get('x-spillway-similarity')),
      similarity_reason: 'explained',
      similarity_fate: 'served',
    });
    const metrics = await (await fetch(`${spillway.url}/metrics`)).text();
    expect(metrics).toContain('spillway_cache_lookups_total{level="semantic",result="hit"} 2');
    expect(metrics).toMatch(/spillway_requests_total\{.*outcome="cache-semantic"\} 2/);
    expect(await (await fetch(`${spillway.url}/readyz`)).json()).toEqual({ status: 'ok', parts: {} });
  });

  it('is asked of the model where the route only watches', async () => {
    const routes = { assistant: { chain: ['m'], cache: { semantic: 'shadow' } } };
    const spillway = await installation.start('all', configuration({ routes }));
    const caller = callerAt(spillway);
    await ask(caller, 'assistant', ASKED);
    await written();
    expect(await cacheOf(caller, REWORDED, { 'x-request-id': 'watched' })).toBe('MISS');
    expect(modelCalls()).toBe(2);
    await eventually(() => spillway.logLines().some(line => line['request_id'] === 'watched'));
    expect(spillway.logLines().find(line => line['request_id'] === 'watched')).toMatchObject({
      cache: 'MISS',
      similarity: expect.any(Number),
      similarity_fate: 'shadow',
    });
    const metrics = await (await fetch(`${spillway.url}/metrics`)).text();
    expect(metrics).toContain('spillway_cache_lookups_total{level="semantic",result="shadow"} 1');
  });

  it('is found after a restart, where the index has a folder and Redis the answers', async () => {
    const kept = configuration({ cache: { folder } });
    const before = await installation.start('all', kept);
    await ask(callerAt(before), 'assistant', ASKED);
    await written();
    expect(await before.stop()).toBe(0);
    const after = await installation.start('all', kept);
    expect(await cacheOf(callerAt(after), REWORDED)).toBe('SEMANTIC_HIT');
    expect((await fetch(`${after.url}/admin/cache`, { method: 'DELETE' })).status).toBe(200);
    expect(await cacheOf(callerAt(after), REWORDED)).toBe('MISS');
  });

  it('is shared by the keys of a team, where the configuration says so', async () => {
    const spillway = await installation.start('all', configuration({ cache: { share: 'team' } }));
    await ask(callerAt(spillway, 'web'), 'assistant', ASKED);
    await written();
    expect(await cacheOf(callerAt(spillway, 'app'), ASKED)).toBe('HIT');
    expect(await cacheOf(callerAt(spillway, 'app'), REWORDED)).toBe('SEMANTIC_HIT');
    expect(await cacheOf(callerAt(spillway, 'lone'), REWORDED)).toBe('MISS');
  });

  it('is found by other processes through Qdrant, with vectors from an endpoint', async () => {
    const shared = configuration({
      qdrant: { url: qdrant.url },
      embedding: { provider: 'simulator', model: 'embed' },
      // The vectors of the simulator know words alone.
      routes: { assistant: { chain: ['m'], cache: { guard: 'strict' } } },
    });
    const [one, other] = await Promise.all([installation.start('all', shared), installation.start('all', shared)]);
    // A helper that is slow, as on a busy machine, is a question that is not kept, or not found: the next one may be.
    await eventually(async () => {
      await ask(callerAt(one), 'assistant', ASKED, { headers: { 'cache-control': 'no-cache' } });
      return [...qdrant.collections.all.values()].some(({ points }) => points.size > 0);
    });
    await eventually(() => isFound(callerAt(other), REWORDED));
    expect(await cacheOf(callerAt(other), TRAP)).toBe('MISS');
    expect(await cacheOf(callerAt(other, 'app'), REWORDED)).toBe('MISS');
    expect(await (await fetch(`${one.url}/readyz`)).json()).toEqual({
      status: 'ok',
      parts: { redis: 'ok', qdrant: 'ok', embedder: 'ok' },
    });
    await fetch(`${one.url}/admin/cache?route=assistant`, { method: 'DELETE' });
    await sleep(1_300);
    expect(await cacheOf(callerAt(other), REWORDED)).toBe('MISS');
    expect(qdrant.problems).toEqual([]);
  });

  it('costs a start nothing that its embedder and Qdrant are lost', async () => {
    const lost = configuration({
      qdrant: { url: 'http://127.0.0.1:1' },
      providers: { simulator: { base_url: installation.simulator.url }, gone: { base_url: 'http://127.0.0.1:1/v1' } },
      embedding: { provider: 'gone', model: 'e' },
    });
    const spillway = await installation.start('all', lost);
    expect(await cacheOf(callerAt(spillway), ASKED)).toBe('MISS');
    await eventually(async () => {
      const { status, parts } = (await (await fetch(`${spillway.url}/readyz`)).json()) as {
        status: string;
        parts: Record<string, string>;
      };
      return status === 'degraded' && parts['qdrant'] === 'lost' && parts['embedder'] === 'lost';
    });
    expect(await cacheOf(callerAt(spillway), ASKED)).toBe('HIT');
  });
});
