import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../simulator/src/random';
import type { Backoff } from '../scenario/schema';
import type { PlannedCall } from '../workload/plan';
import { messagesOf, type Caller, type Reply } from './caller';
import { contentOf, HttpPoster } from './http-post';

/** A client that repeats refused and failed calls by a table of waits and knows nothing of the limits. */
export class BackoffCaller implements Caller {
  private readonly poster = new HttpPoster();

  constructor(
    private readonly url: string,
    private readonly model: string,
    private readonly table: Backoff,
    private readonly random: Random,
  ) {}

  async call(planned: PlannedCall, signal: AbortSignal): Promise<Reply> {
    let status: number | null = null;
    let tries = 0;
    while (tries < this.table.attempts && !signal.aborted) {
      tries += 1;
      const reply = await this.poster
        .post(`${this.url}/chat/completions`, { model: this.model, messages: messagesOf(planned) }, {}, signal)
        .catch(() => null);
      if (reply?.status === 200) return { kind: 'answer', text: contentOf(reply.body), tier: 'generated', tries };
      status = reply?.status ?? null;
      if (status !== null && status < 500 && status !== 429) break;
      if (tries < this.table.attempts) {
        await sleep(waitMs(this.table, tries - 1, this.random), undefined, { signal }).catch(() => undefined);
      }
    }
    return { kind: 'error', status, tries };
  }

  close(): Promise<void> {
    return this.poster.close();
  }
}

/** Milliseconds before the try that follows `retry` earlier ones. */
export function waitMs(table: Backoff, retry: number, random: Random): number {
  const { base_ms, factor, most_ms, jitter, jitter_share } = table;
  const wait = Math.min(most_ms, base_ms * factor ** retry);
  switch (jitter) {
    case 'none':
      return wait;
    case 'proportional':
      return wait * (1 + random() * jitter_share);
    case 'additive-s':
      return wait + random() * 1000;
    case 'full':
      return random() * wait;
    default:
      return jitter satisfies never;
  }
}
