import type { IncomingCall } from './call';
import type { JsonObject } from './json';

/** A text that no model wrote, as the whole answer to a call; it took no tokens. `now`: milliseconds since the epoch. */
export function textCompletion(
  { id }: Pick<IncomingCall, 'id'>,
  route: string,
  content: string,
  now: number,
): JsonObject {
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: Math.floor(now / 1000),
    model: route,
    choices: [
      { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
}
