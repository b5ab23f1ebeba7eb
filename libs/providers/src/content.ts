import { isJsonObject, type JsonObject, type JsonValue } from '@spillway/contracts';

/** Fields of a message or delta, beside `content`, that make it an answer. */
const CONTENT_FIELDS = [
  'tool_calls',
  'function_call',
  'refusal',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'audio',
  'images',
] as const;

/** Whether a chat answer or chunk brings something for its reader: text, calls of tools, a refusal, reasoning. */
export function hasContent(body: JsonObject): boolean {
  return choicesOf(body).some(choice => {
    const said = choice['message'] ?? choice['delta'];
    if (!isJsonObject(said)) return isFilled(choice['text']);
    return isFilled(said['content']) || CONTENT_FIELDS.some(field => isFilled(said[field]));
  });
}

/** The choices of a chat answer or chunk; none where it has none. */
export function choicesOf(body: JsonObject): readonly JsonObject[] {
  const choices = body['choices'];
  return Array.isArray(choices) ? choices.filter(isJsonObject) : [];
}

/** The reason a choice ended; null while it has not. */
export function finishReasonOf(choice: JsonObject): string | null {
  const reason = choice['finish_reason'];
  return typeof reason === 'string' && reason !== '' ? reason : null;
}

function isFilled(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return /\S/.test(value);
  if (Array.isArray(value)) return value.length > 0;
  return isJsonObject(value);
}
