import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ManualClock } from '../../../../test/support/manual-clock';
import { ServerLoads } from './server-loads';

describe('the loads of model servers', () => {
  const clock = new ManualClock();
  const report = jest.fn();
  let server: Server;
  let answer: { status: number; text: string } | 'silence';
  let model: { name: string; load_url: string };
  let loads: ServerLoads;

  beforeAll(async () => {
    server = createServer((_, response) => {
      if (answer !== 'silence') response.writeHead(answer.status).end(answer.text);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    model = { name: 'm', load_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics` };
  });

  beforeEach(() => {
    report.mockReset();
    answer = { status: 200, text: 'vllm:kv_cache_usage_perc 0.6\n' };
    loads = new ServerLoads(() => [model], clock, report);
  });

  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  it('are unknown at first, then read, and forgotten when they are old', async () => {
    expect(loads.factorOf(model)).toBe(1);
    await loads.readAll();
    expect(loads.factorOf(model)).toBeCloseTo(0.4);
    expect(loads.factorOf({ ...model, load_url: 'http://127.0.0.1:1/elsewhere' })).toBe(1);
    clock.time += 15_000;
    expect(loads.factorOf(model)).toBeCloseTo(0.4);
    clock.time += 1;
    expect(loads.factorOf(model)).toBe(1);
  });

  it.each([
    ['an error', { status: 500, text: 'vllm:kv_cache_usage_perc 0.9' }],
    ['another page', { status: 200, text: '<html></html>' }],
    ['silence', 'silence' as const],
  ])('stay for a while on %s, which is told once, until it is over', async (_, trouble) => {
    await loads.readAll();
    const good = answer;
    answer = trouble;
    await loads.readAll();
    await loads.readAll();
    expect(loads.factorOf(model)).toBeCloseTo(0.4);
    expect(report).toHaveBeenCalledTimes(1);
    answer = good;
    await loads.readAll();
    answer = trouble;
    await loads.readAll();
    expect(report).toHaveBeenCalledTimes(2);
  });
});
