import { setImmediate as turn } from 'node:timers/promises';
import type { Answer, Call, JsonObject, RouteCacheSettings } from '@spillway/contracts';
import { incomingCall } from './calls';

const cacheOfRoute: RouteCacheSettings = {
  exact: true,
  semantic: false,
  ttl_s: 3600,
  threshold: 0.92,
  guard: 'balanced',
};

export type CallChanges = NonNullable<Parameters<typeof incomingCall>[0]> & {
  readonly cache?: Partial<RouteCacheSettings>;
  readonly staleIfErrorS?: number;
};

/** A classified call of a route that caches, with whatever a test wants to be different. */
export function cacheableCall({ cache, staleIfErrorS = 0, ...changes }: CallChanges = {}): Call {
  return {
    ...incomingCall(changes),
    priority: 'normal',
    route: {
      name: 'assistant',
      chain: [],
      chain_by_priority: {},
      stale_if_error_s: staleIfErrorS,
      fallback_response: { critical: null, normal: null, low: null },
      cache: { ...cacheOfRoute, ...cache },
    },
    models: [],
    turnBy: 0,
  };
}

/** A question on a route that compares questions. */
export function questionCall(text: string, { cache, body, ...changes }: CallChanges = {}): Call {
  return cacheableCall({
    cache: { semantic: true, threshold: null, guard: null, ...cache },
    body: { model: 'assistant', messages: [{ role: 'user', content: text }], ...body },
    ...changes,
  });
}

/** Reads an answer until it is kept, and tells what answered: the journal's status and tier. */
export async function readToTheEnd(answer: Answer, { journal }: Call): Promise<string> {
  for await (const part of answer.parts) void part;
  for (let turns = 0; turns < 4; turns++) await turn();
  journal.outcome = answer.outcome;
  const { cache, cacheTier } = journal;
  return cacheTier === null ? cache : `${cache} ${cacheTier}`;
}

/** A completion as a provider answers it. */
export function completion(message: JsonObject, finish_reason = 'stop'): JsonObject {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'real-primary',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
    usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
  };
}
