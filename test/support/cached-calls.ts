import type { Call, JsonObject, RouteCacheSettings } from '@spillway/contracts';
import { incomingCall } from './calls';

const cacheOfRoute: RouteCacheSettings = {
  exact: true,
  semantic: false,
  ttl_s: 3600,
  threshold: 0.92,
  guard: 'balanced',
};

type Changes = NonNullable<Parameters<typeof incomingCall>[0]> & {
  readonly cache?: Partial<RouteCacheSettings>;
  readonly staleIfErrorS?: number;
};

/** A classified call of a route that caches, with whatever a test wants to be different. */
export function cacheableCall({ cache, staleIfErrorS = 0, ...changes }: Changes = {}): Call {
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
