import { setTimeout as sleep } from 'node:timers/promises';
import type { PlannedCall } from '../workload/plan';
import { messagesOf, type Caller, type Reply, type Tier } from './caller';
import { contentOf, HttpPoster, type HttpReply } from './http-post';

/** Where an error does not say when to come back. */
const DEFAULT_WAIT_MS = 500;

const TIERS: Readonly<Record<string, Tier>> = {
  'cache-exact': 'exact',
  'cache-semantic': 'semantic',
  coalesced: 'coalesced',
  generated: 'generated',
  'fallback-model': 'generated',
};

/** A program that calls Spillway by the endpoint of its class. */
export class SpillwayCaller implements Caller {
  private readonly poster = new HttpPoster();

  constructor(
    private readonly url: string,
    private readonly route: string,
    private readonly repeats = 0,
  ) {}

  async call(planned: PlannedCall, signal: AbortSignal): Promise<Reply> {
    const headers = {
      'x-spillway-scope': planned.question.scope,
      ...(planned.key === null ? {} : { authorization: `Bearer ${planned.key}` }),
    };
    const body = { model: this.route, messages: messagesOf(planned) };
    try {
      const url = `${this.url}/${planned.priority}/v1/chat/completions`;
      for (let repeat = 0; ; repeat++) {
        const reply = await this.poster.post(url, body, headers, signal);
        if (repeat >= this.repeats || reply.headers['x-should-retry'] !== 'true') return replyOf(reply, repeat);
        await sleep(Number(reply.headers['retry-after-ms'] ?? DEFAULT_WAIT_MS), undefined, { signal });
      }
    } catch {
      return { kind: 'error', status: null, tries: 1 };
    }
  }

  close(): Promise<void> {
    return this.poster.close();
  }
}

function replyOf({ status, headers, body }: HttpReply, repeats: number): Reply {
  const outcome = String(headers['x-spillway-outcome']);
  if (outcome === 'fallback-response') return { kind: 'fallback' };
  const tries = repeats + Number(headers['x-spillway-attempts'] ?? 1);
  if (status !== 200) return { kind: 'error', status, tries };
  const isCanonical = headers['x-spillway-cache-tier'] === 'canonical';
  const tier = isCanonical ? 'canonical' : (TIERS[outcome] ?? 'generated');
  return { kind: 'answer', text: contentOf(body), tier, tries };
}
