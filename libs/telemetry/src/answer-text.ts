import { isJsonObject, type JsonObject } from '@spillway/contracts';

/** What an answer, or one chunk of it, says: the content of its choices. */
export function contentOf(body: JsonObject): string {
  const { choices } = body;
  if (!Array.isArray(choices)) return '';
  let text = '';
  for (const choice of choices) {
    if (!isJsonObject(choice)) continue;
    const message = choice['delta'] ?? choice['message'];
    const content = isJsonObject(message) ? message['content'] : undefined;
    if (typeof content === 'string') text += content;
  }
  return text;
}
