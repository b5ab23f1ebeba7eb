import { createHash, randomUUID } from 'node:crypto';
import {
  InvalidRequest,
  ModelNotFound,
  NotFound,
  PartLost,
  type Caller,
  type Errands,
  type RouteSettings,
} from '@spillway/contracts';
import type { Job, JobQueue } from '@spillway/jobs';
import { RedisUnavailable } from '@spillway/redis';
import { surveyCaches, type CacheSurvey } from './cache-survey';
import { receiveLines } from './receive-lines';
import type { SeedOrder } from './seed-job';
import type { SeedLines } from './seed-lines';
import { NOTHING_DONE, type LineFailure, type SeedCheckpoint, type SeedCounts } from './seed-progress';
import { linesOf, type SizeLimits } from './text-lines';

/** For whom, and where lines go that name no route. Absent: the first key, or nobody in particular; the only route. */
export interface SeedTerms {
  readonly key?: string | undefined;
  readonly route?: string | undefined;
}

export interface SeedStatus extends SeedCounts {
  readonly id: string;
  /** Lines that say something. */
  readonly total: number;
  readonly state: Job['status'];
  /** The first ones only. */
  readonly failures: readonly LineFailure[];
  /** Why the seed as a whole failed. */
  readonly error: Job['error'];
}

/** What the configuration says of seeds at the moment. */
export interface SeedRules {
  /** Null: there is no such key. */
  caller(key?: string): Caller | null;
  route(name: string): RouteSettings | undefined;
  /** Null: there are several, or none. */
  onlyRoute(): string | null;
  limits(): SizeLimits;
  concurrency(): number;
}

/** Takes texts of seeds, and tells how far they have come. */
export class Seeds {
  constructor(
    private readonly jobs: Pick<JobQueue<SeedOrder>, 'add' | 'find' | 'cancel'>,
    private readonly lines: SeedLines,
    private readonly errands: Pick<Errands, 'run'>,
    private readonly rules: SeedRules,
  ) {}

  /**
   * Begins to plant what a text says, or returns the seed of the same text that is under way.
   * @throws InvalidRequest, ModelNotFound, RequestTooLarge, or PartLost while Redis is lost.
   */
  async sow(terms: SeedTerms, source: AsyncIterable<Uint8Array>): Promise<{ readonly id: string }> {
    const { caller, route } = this.resolve(terms);
    const text = randomUUID();
    const { total, digest } = await kept(receiveLines(text, linesOf(source, this.rules.limits()), this.lines));
    if (total === 0) {
      await this.lines.drop(text).catch(() => undefined);
      throw new InvalidRequest('There are no seeds in this text.');
    }
    const name = createHash('sha256')
      .update(JSON.stringify([caller.name, route, digest]))
      .digest('hex')
      .slice(0, 24);
    for (let run = 1; ; run++) {
      const id = `seed_${name}_${total}_${run}`;
      const known = await this.jobs.find(id);
      if (known?.endedAt) continue;
      if (known === null)
        await this.jobs.add({ id, owner: caller.name, payload: { text, total, key: caller.name, route } });
      else await this.lines.drop(text).catch(() => undefined);
      return { id };
    }
  }

  /** @throws NotFound, or PartLost while Redis is lost. */
  async status(id: string): Promise<SeedStatus> {
    const job = await this.jobs.find(id);
    if (job === null) throw new NotFound('There is no such seed.', { retryable: false });
    return statusOf(job);
  }

  /** Ends a seed that is under way; what it has planted stays. @throws as `status` */
  async cancel(id: string): Promise<SeedStatus> {
    const job = await this.jobs.cancel(id);
    if (job === null) throw new NotFound('There is no such seed.', { retryable: false });
    return statusOf(job);
  }

  /** What the caches would answer of the questions of a text. @throws as `sow` */
  survey(terms: SeedTerms, source: AsyncIterable<Uint8Array>): Promise<CacheSurvey> {
    const { caller, route } = this.resolve(terms);
    const concurrency = this.rules.concurrency();
    return surveyCaches(this.errands, linesOf(source, this.rules.limits()), { caller, route, concurrency });
  }

  private resolve({ key, route }: SeedTerms): { readonly caller: Caller; readonly route: string | null } {
    const caller = this.rules.caller(key);
    if (caller === null) {
      throw new InvalidRequest(`There is no key named ${JSON.stringify(key)} here.`, { param: 'key' });
    }
    if (route === undefined) return { caller, route: this.rules.onlyRoute() };
    if (this.rules.route(route) === undefined) {
      const message = `${JSON.stringify(route)} is neither a route nor a model here.`;
      throw new ModelNotFound(message, { param: 'route', retryable: false });
    }
    return { caller, route };
  }
}

/** The id of a seed tells how many lines it has, since a job that waits tells nothing. */
function statusOf({ id, status, progress, result, error }: Job): SeedStatus {
  const { done, hits, generated, stored, failed, tokens, failures } = {
    ...NOTHING_DONE,
    ...((result ?? progress) as SeedCheckpoint | null),
  };
  const total = Number(id.split('_')[2]);
  return { id, total, done, hits, generated, stored, failed, tokens, state: status, failures, error };
}

async function kept<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof RedisUnavailable)) throw error;
    throw new PartLost('Redis is lost: seeds cannot be kept now.', { cause: error, retryAfterMs: 1_000 });
  }
}
