import { ShuttingDown, type Caller } from '@spillway/contracts';
import type { Stops } from './planter';
import { SeedJob } from './seed-job';
import { MemorySeedLines, type SeedLines } from './seed-lines';

const CALLER: Caller = { name: 'shop', priority: 'low', max_priority: 'low', routes: null, team: null };
const LINES = Array.from({ length: 20 }, (_, index) => JSON.stringify({ question: `Question ${index}?` }));

describe('a seed as a job', () => {
  const leaving = new AbortController();
  const reason = new ShuttingDown('This process is shutting down.');
  const planted: Stops[] = [];

  it('ends the questions under way and begins no other when its process is to end', async () => {
    const lines: Pick<SeedLines, 'page'> = { page: async (_, from, count) => LINES.slice(from, from + count) };
    const plant = async (_: unknown, __: Caller, stops: Stops) => {
      planted.push(stops);
      if (planted.length === 4) leaving.abort(reason);
      await new Promise(resolve => setTimeout(resolve, 20));
      stops.signal.throwIfAborted();
      return { kind: 'generated', tokens: 1 } as const;
    };
    const job = new SeedJob(
      lines as SeedLines,
      { plant },
      {
        caller: () => CALLER,
        concurrency: () => 2,
        quiet: async () => undefined,
      },
    );
    const noted: unknown[] = [];
    const inHand = {
      payload: { text: 't', total: LINES.length, key: 'shop', route: 'qa' },
      progress: null,
      signal: new AbortController().signal,
      leaving: leaving.signal,
      checkpoint: async (progress: unknown) => void noted.push(progress),
    };
    await expect(job.run(inHand)).rejects.toBe(reason);
    expect(planted).toHaveLength(4);
    expect(noted.at(-1)).toMatchObject({ done: 4, generated: 4 });
  });

  it('fails for good where its lines are gone before all of them are done', async () => {
    const lines = new MemorySeedLines();
    await lines.append('t', LINES.slice(0, 5));
    const settings = { caller: () => CALLER, concurrency: () => 1, quiet: async () => undefined };
    const job = new SeedJob(lines, { plant: async () => ({ kind: 'hit' }) }, settings);
    const inHand = (total: number) => ({
      payload: { text: 't', total, key: 'shop', route: 'qa' },
      progress: null,
      signal: new AbortController().signal,
      leaving: new AbortController().signal,
      checkpoint: async () => undefined,
    });
    await expect(job.run(inHand(5))).resolves.toMatchObject({ done: 5 });
    await expect(job.run(inHand(6))).rejects.toMatchObject({ code: 'invalid_request', retryable: false });
  });

  it.each(['ended', 'cancelled'] as const)('has its lines forgotten once it is %s', async how => {
    const lines = new MemorySeedLines();
    await lines.append('t', LINES);
    const settings = { caller: () => CALLER, concurrency: () => 1, quiet: async () => undefined };
    const job = new SeedJob(lines, { plant: async () => ({ kind: 'blank' }) }, settings);
    const order = { text: 't', total: LINES.length, key: 'shop', route: 'qa' };
    await (how === 'ended' ? job.ended(null, order) : job.cancelled(order));
    expect(await lines.page('t', 0, 1)).toEqual([]);
  });
});
