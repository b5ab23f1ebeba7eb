import { isJsonObject, type AnswerPart, type JsonObject } from '@spillway/contracts';

/** Characters that are kept of an answer; of a longer one its end, where a model that loops does so. */
const MOST_KEPT = 16_000;

/** What of an answer is looked at once it was given: its first choice, gathered while it passes. */
export class AnswerSample {
  /** What it says, at most the last 32 000 characters. */
  text = '';
  /** Whether `text` is all that it says. */
  isWhole = true;
  finishReason: string | null = null;
  callsTools = false;

  add({ body }: Pick<AnswerPart, 'body'>): void {
    const choice = firstChoice(body);
    if (choice === null) return;
    const { finish_reason: finishReason, delta, message = delta } = choice;
    if (typeof finishReason === 'string') this.finishReason = finishReason;
    if (!isJsonObject(message)) return;
    if (message['tool_calls'] !== undefined || message['function_call'] !== undefined) this.callsTools = true;
    if (typeof message['content'] === 'string') this.keep(message['content']);
  }

  private keep(content: string): void {
    this.text += content;
    if (this.text.length <= 2 * MOST_KEPT) return;
    this.text = this.text.slice(-MOST_KEPT);
    this.isWhole = false;
  }
}

function firstChoice({ choices }: JsonObject): JsonObject | null {
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isJsonObject(first) && (first['index'] ?? 0) === 0 ? first : null;
}
