import { partsOf, wholePart, type AnswerParts } from './answer';
import type { Call } from './call';

/** A text that no model wrote, as the whole answer to a call; it took no tokens. `now`: milliseconds since the epoch. */
export function textAnswer({ id, route }: Pick<Call, 'id' | 'route'>, content: string, now: number): AnswerParts {
  const message = { role: 'assistant', content, refusal: null };
  return partsOf(
    wholePart({
      id: `chatcmpl-${id}`,
      object: 'chat.completion',
      created: Math.floor(now / 1000),
      model: route.name,
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    }),
  );
}
