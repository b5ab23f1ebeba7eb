import fc from 'fast-check';
import { runSeed } from './run-seed';
import { NOTHING_DONE, type LineEnd, type SeedCheckpoint } from './seed-progress';

const tick = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

describe('a run of seeds', () => {
  const run = (
    lines: readonly string[],
    plant: (line: string) => Promise<LineEnd>,
    { from = NOTHING_DONE, concurrency = 4 }: { from?: SeedCheckpoint; concurrency?: number } = {},
    reached: (progress: SeedCheckpoint) => void = () => undefined,
  ): Promise<SeedCheckpoint> =>
    runSeed(from, {
      concurrency,
      page: async (start, count) => lines.slice(start, start + count),
      plant,
      reached,
    });

  it('counts what became of each line, and names those that failed', async () => {
    const ends: Record<string, LineEnd> = {
      there: { kind: 'hit' },
      asked: { kind: 'generated', tokens: 7 },
      given: { kind: 'stored' },
      bad: { kind: 'failed', reason: 'is no valid JSON' },
    };
    const end = await run(['there', '', 'asked', 'bad', 'given', 'asked'], async line => ends[line] ?? { kind: 'hit' });
    expect(end).toEqual({
      done: 5,
      hits: 1,
      generated: 2,
      stored: 1,
      failed: 1,
      tokens: 14,
      cursor: 6,
      ahead: [],
      failures: [{ line: 4, reason: 'is no valid JSON' }],
    });
  });

  it('works on as many lines at a time as it may, over all pages', async () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `${index}`);
    let underWay = 0;
    let most = 0;
    const end = await run(
      lines,
      async () => {
        most = Math.max(most, ++underWay);
        await tick();
        underWay--;
        return { kind: 'hit' };
      },
      { concurrency: 3 },
    );
    expect([end.done, end.cursor, most]).toEqual([1_000, 1_000, 3]);
  });

  it('goes on where it was stopped, and does no line twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 4 }),
        async (length, stops) => {
          const lines = Array.from({ length }, (_, index) => `${index}`);
          const planted: string[] = [];
          let kept = NOTHING_DONE;
          for (const stopAfter of [...stops, Infinity]) {
            let left = stopAfter;
            const plant = async (line: string): Promise<LineEnd> => {
              if (left-- <= 0) throw new Error('stopped');
              if (Number(line) % 3 === 0) await tick();
              planted.push(line);
              return { kind: 'generated', tokens: 1 };
            };
            kept = await run(lines, plant, { from: kept }, progress => (kept = progress)).catch(() => kept);
          }
          expect(planted.toSorted()).toEqual(lines.toSorted());
          expect(kept).toMatchObject({ done: length, generated: length, cursor: length, ahead: [] });
        },
      ),
      { numRuns: 40 },
    );
  });

  it('does no line twice that was done before an earlier one', async () => {
    const lines = Array.from({ length: 6 }, (_, index) => `${index}`);
    const planted: string[] = [];
    let kept = NOTHING_DONE;
    const plant = async (line: string): Promise<LineEnd> => {
      planted.push(line);
      if (line !== '1' || kept.done > 3) return { kind: 'hit' };
      for (let turn = 0; turn < 5; turn++) await tick();
      throw new Error('stopped');
    };
    const reached = (progress: SeedCheckpoint): void => void (kept = progress);
    await expect(run(lines.slice(0, 4), plant, { concurrency: 4 }, reached)).rejects.toThrow('stopped');
    expect(kept).toMatchObject({ done: 3, cursor: 1, ahead: [2, 3] });
    kept = { ...kept, done: 4 };
    await run(lines, plant, { from: kept });
    expect(planted.toSorted()).toEqual(['0', '1', '1', '2', '3', '4', '5']);
  });

  it('stops with the reason once the lines under way have ended', async () => {
    let ended = 0;
    const plant = async (line: string): Promise<LineEnd> => {
      if (line === 'stop') throw new Error('shutting down');
      await tick();
      ended++;
      return { kind: 'hit' };
    };
    await expect(run(['a', 'b', 'stop', 'c', 'd', 'e'], plant)).rejects.toThrow('shutting down');
    expect(ended).toBe(3);
  });
});
