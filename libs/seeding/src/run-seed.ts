import { inParallel } from './in-parallel';
import { advance, isDone, type LineEnd, type SeedCheckpoint } from './seed-progress';

/** What a run works with. */
export interface SeedWork {
  /** Lines at the same time. */
  readonly concurrency: number;
  /** Lines from this one on (from 0), at most `count`; none after the last. */
  page(from: number, count: number): Promise<readonly string[]>;
  /** @throws where the run is to stop, and the line is still to be done. */
  plant(line: string): Promise<LineEnd>;
  /** Told of every step; what it was told last is where the next run goes on. */
  reached(progress: SeedCheckpoint): void;
}

/** A run knows this many lines at a time, and is at most this far ahead of its slowest line. */
const PAGE_LINES = 200;

/**
 * Plants all lines that are not done yet, several at a time.
 * @throws what planting throws, after the lines under way have ended.
 */
export async function runSeed(from: SeedCheckpoint, work: SeedWork): Promise<SeedCheckpoint> {
  let progress = from;
  for (;;) {
    const start = progress.cursor;
    const page = await work.page(start, PAGE_LINES);
    if (page.length === 0) return progress;
    const open = page.map((text, index) => ({ text, line: start + index })).filter(({ line }) => !isDone(from, line));
    await inParallel(open, work.concurrency, async ({ text, line }) => {
      const end: LineEnd = text === '' ? { kind: 'blank' } : await work.plant(text);
      progress = advance(progress, line, end);
      work.reached(progress);
    });
  }
}
