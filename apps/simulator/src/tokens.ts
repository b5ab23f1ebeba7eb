import { isJsonObject, type JsonObject, type JsonValue } from '@spillway/contracts';

const BYTES_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;
/** What a picture or a sound counts; providers count it by its size, which the simulator does not look at. */
const TOKENS_PER_OTHER_PART = 85;

/** Tokens of a text, linear in its bytes. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** A text cut into pieces of about a token; together they are the text. */
export function piecesOf(text: string): string[] {
  return text.match(/[\x20-\x7e]{1,4}|[^\x20-\x7e]/gu) ?? [];
}

/** Tokens of the prompt of a chat completion: its messages and tools. */
export function promptTokensOf(body: JsonObject): number {
  const messages = Array.isArray(body['messages']) ? (body['messages'] as readonly JsonValue[]) : [];
  const tools = body['tools'] === undefined ? 0 : tokensOf(JSON.stringify(body['tools']));
  return messages.reduce<number>((sum, message) => sum + messageTokens(message), tools);
}

function messageTokens(message: JsonValue): number {
  if (!isJsonObject(message)) return TOKENS_PER_MESSAGE;
  const content = message['content'];
  const calls = message['tool_calls'] === undefined ? 0 : tokensOf(JSON.stringify(message['tool_calls']));
  if (typeof content === 'string') return TOKENS_PER_MESSAGE + calls + tokensOf(content);
  if (!Array.isArray(content)) return TOKENS_PER_MESSAGE + calls;
  return (content as readonly JsonValue[]).reduce<number>(
    (sum, part) => sum + partTokens(part),
    TOKENS_PER_MESSAGE + calls,
  );
}

function partTokens(part: JsonValue): number {
  return isJsonObject(part) && typeof part['text'] === 'string' ? tokensOf(part['text']) : TOKENS_PER_OTHER_PART;
}

/** The text of the last message of the user; empty where there is none. */
export function lastUserText(body: JsonObject): string {
  const messages = Array.isArray(body['messages']) ? (body['messages'] as readonly JsonValue[]) : [];
  const last = messages.findLast(message => isJsonObject(message) && message['role'] === 'user');
  const content = isJsonObject(last) ? last['content'] : undefined;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as readonly JsonValue[])
    .map(part => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}
