import type { Step, StreamItem } from './upstream-step';

const MODEL = 'real-primary';
const CREATED = 1_700_000_000;

/** A whole completion, as a model sends it. */
export function completion(content: string, more: object = {}): Step {
  return {
    json: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: CREATED,
      model: MODEL,
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      ...more,
    },
  };
}

/** A chunk of a stream. */
export function chunk(delta: object, finish_reason: string | null = null): StreamItem {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: CREATED,
    model: MODEL,
    choices: [{ index: 0, delta, finish_reason }],
  };
}

export const text = (content: string): StreamItem => chunk({ content });
export const FINISH = chunk({}, 'stop');
export const USAGE: StreamItem = {
  id: 'c1',
  object: 'chat.completion.chunk',
  created: CREATED,
  model: MODEL,
  choices: [],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
};

/** Server-sent events. */
export function events(items: readonly StreamItem[], more: Step = {}): Step {
  return { headers: { 'content-type': 'text/event-stream' }, sse: items, ...more };
}

/** A complete stream that says these texts. */
export function stream(...texts: readonly string[]): Step {
  return events([...texts.map(text), FINISH, USAGE, '[DONE]']);
}

/** An error as most providers send it. */
export function refusal(status: number, code: string | null = null, message = 'upstream says no'): Step {
  return { status, json: { error: { message, type: null, param: null, code } } };
}
