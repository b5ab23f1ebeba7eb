import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidRequest, type Caller } from '@spillway/contracts';
import { DEFAULT_RETRY, type JobHandler, type RunningJob } from '@spillway/jobs';
import { RedisUnavailable } from '@spillway/redis';
import { Checkpoints } from './checkpoints';
import type { Planter, Stops } from './planter';
import { runSeed } from './run-seed';
import { BadLine, readSeed } from './seed-line';
import type { SeedLines } from './seed-lines';
import { NOTHING_DONE, type LineEnd, type SeedCheckpoint } from './seed-progress';

/** What a seed needs to know, wherever it runs. */
export type SeedOrder = {
  /** Name of the text in `SeedLines`. */
  readonly text: string;
  /** Lines that say something. */
  readonly total: number;
  /** The configured name of the key whose callers will be served. */
  readonly key: string;
  /** For lines that name none. */
  readonly route: string | null;
};

/** A seed in the hands of this process; `leaving` is aborted once it is to go on elsewhere from the next question on. */
type SeedInHand = Pick<RunningJob<SeedOrder>, 'payload' | 'progress' | 'signal' | 'leaving' | 'checkpoint'>;

export interface SeedSettings {
  /** Null: there is no such key any more. */
  caller(key: string): Caller | null;
  concurrency(): number;
  /** Resolves when no call of a higher class waits for its turn. */
  quiet(signal: AbortSignal): Promise<void>;
}

const CHECKPOINT_EVERY_MS = 250;
const REDIS_AGAIN_MS = 500;

/** Plants a text of seeds; goes on where an earlier attempt ended. Its lines are kept until it has ended. */
export class SeedJob implements JobHandler<SeedOrder> {
  readonly retry = DEFAULT_RETRY;

  constructor(
    private readonly lines: SeedLines,
    private readonly planter: Pick<Planter, 'plant'>,
    private readonly settings: SeedSettings,
  ) {}

  async run(job: SeedInHand): Promise<SeedCheckpoint> {
    const { progress, signal } = job;
    const stops = { signal, pausing: AbortSignal.any([signal, job.leaving]) };
    const { text, total, key, route } = job.payload;
    const caller = this.settings.caller(key);
    if (caller === null) throw new InvalidRequest(`There is no key ${key} any more.`, { retryable: false });
    const checkpoints = new Checkpoints<SeedCheckpoint>(reached => job.checkpoint(reached), CHECKPOINT_EVERY_MS);
    try {
      const reached = await runSeed((progress as SeedCheckpoint | null) ?? NOTHING_DONE, {
        concurrency: this.settings.concurrency(),
        page: (from, count) => this.page(text, from, count, stops.pausing),
        plant: line => this.plant(line, route, caller, stops),
        reached: step => checkpoints.note(step),
      });
      // As after a retry of a seed that had failed, or where Redis was emptied.
      if (reached.done < total)
        throw new InvalidRequest('Lines of this text are gone: seed it again.', { retryable: false });
      return reached;
    } finally {
      await checkpoints.end();
    }
  }

  ended(_: unknown, { text }: SeedOrder): Promise<void> {
    return this.lines.drop(text);
  }

  /** Where Redis is lost they go by themselves. */
  cancelled({ text }: SeedOrder): Promise<void> {
    return this.lines.drop(text).catch(() => undefined);
  }

  private async plant(line: string, route: string | null, caller: Caller, stops: Stops): Promise<LineEnd> {
    stops.pausing.throwIfAborted();
    try {
      const seed = readSeed(line);
      await this.settings.quiet(stops.pausing);
      return await this.planter.plant({ ...seed, route: seed.route ?? route }, caller, stops);
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      return { kind: 'failed', reason: error.message };
    }
  }

  /** A lost Redis comes back. */
  private async page(text: string, from: number, count: number, signal: AbortSignal): Promise<readonly string[]> {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await this.lines.page(text, from, count);
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error;
        await sleep(REDIS_AGAIN_MS);
      }
    }
  }
}
