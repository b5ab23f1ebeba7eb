import {
  chunkPart,
  wholePart,
  type AnswerPart,
  type Degradation,
  type JsonObject,
  type Usage,
} from '@spillway/contracts';
import type { Redis, RedisGuard } from '@spillway/redis';

/** A transcript that nobody finishes goes by itself; a finished one when its last reader must have it. */
const LIFE_MS = 60_000;
const FINISHED_LIFE_MS = 10_000;

/** What a process that leads tells those that follow, in this order: called, some parts, then one of the ends. */
export type Entry =
  | { readonly kind: 'called' }
  | {
      readonly kind: 'parts';
      readonly model: string | null;
      readonly degraded: Degradation | null;
      readonly parts: readonly (readonly [AnswerPart['kind'], string])[];
    }
  | { readonly kind: 'end'; readonly usage: Usage | null }
  | { readonly kind: 'failed' };

/** An answer that is relayed from one process to others: a stream in Redis that ends by itself. */
export class Transcripts {
  constructor(
    private readonly connection: Redis,
    private readonly guard: Pick<RedisGuard, 'run'>,
    private readonly prefix: string,
  ) {}

  /** @throws RedisUnavailable */
  async write(token: string, entry: Entry): Promise<void> {
    const key = this.keyOf(token);
    const lifeMs = entry.kind === 'end' || entry.kind === 'failed' ? FINISHED_LIFE_MS : LIFE_MS;
    await this.guard.run(() =>
      Promise.all([this.connection.xadd(key, '*', 'e', JSON.stringify(entry)), this.connection.pexpire(key, lifeMs)]),
    );
  }

  /** What was written after `last`, an id of an earlier read or `-` for all. @throws RedisUnavailable */
  async read(token: string, last: string): Promise<{ readonly entries: readonly Entry[]; readonly last: string }> {
    const start = last === '-' ? last : `(${last}`;
    const found = await this.guard.run(() => this.connection.xrange(this.keyOf(token), start, '+'));
    const entries = found.map(([, [, text = '{}']]) => JSON.parse(text) as Entry);
    return { entries, last: found.at(-1)?.[0] ?? last };
  }

  private keyOf(token: string): string {
    return `${this.prefix}:coalesce:parts:${token}`;
  }
}

export function partOf([kind, json]: readonly [AnswerPart['kind'], string]): AnswerPart {
  const body = JSON.parse(json) as JsonObject;
  return kind === 'whole' ? wholePart(body, json) : chunkPart(body, json);
}
