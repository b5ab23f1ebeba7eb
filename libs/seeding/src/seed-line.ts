import { isJsonObject, parseExactJson, type JsonObject, type JsonValue } from '@spillway/contracts';

/** One question, and where its answer is to be kept. */
export interface Seed {
  /** As a caller would send it in `x-spillway-scope`; empty: none. */
  readonly scope: string;
  /** Null: the line names none. */
  readonly route: string | null;
  /** The request that a caller would send, but for its `model`, which is the route. */
  readonly request: JsonObject;
  /** Kept as it is; null: a model is asked. */
  readonly answer: string | null;
}

/** A line that is no seed; its message says why. */
export class BadLine extends Error {}

/** What no header can carry, in which callers name their scope. */
const CONTROL_CHARACTER = /\p{Cc}/u;
/** What a line says beside the request itself. */
const ABOUT = new Set(['scope', 'route', 'question', 'answer', 'model']);

/**
 * Reads a line of JSON.
 * @throws BadLine
 */
export function readSeed(text: string): Seed {
  const line = objectOf(text);
  const scope = textOf(line, 'scope') ?? '';
  if (CONTROL_CHARACTER.test(scope)) throw new BadLine('scope holds characters that no header can carry');
  const route = textOf(line, 'route') ?? textOf(line, 'model');
  const answer = line['answer'] ?? null;
  if (answer !== null && (typeof answer !== 'string' || answer.trim() === '')) {
    throw new BadLine('answer must be a text that says something');
  }
  return { scope: asHeader(scope.trim()), route, request: requestOf(line), answer };
}

/** UTF-8, as Node reads it. */
function asHeader(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function objectOf(text: string): JsonObject {
  let line: unknown;
  try {
    line = parseExactJson(text);
  } catch {
    throw new BadLine('is no valid JSON');
  }
  if (!isJsonObject(line)) throw new BadLine('is no JSON object');
  return line;
}

/** A `question` is that message and nothing else; with `messages` all other fields are part of the request. */
function requestOf(line: JsonObject): JsonObject {
  const { question, messages } = line;
  if (isGiven(question) && isGiven(messages)) throw new BadLine('has both a question and messages');
  if (isGiven(question)) {
    if (typeof question !== 'string' || question.trim() === '') throw new BadLine('question must be a text');
    return { messages: [{ role: 'user', content: question }] };
  }
  if (!isGiven(messages)) throw new BadLine('has neither a question nor messages');
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isJsonObject)) {
    throw new BadLine('messages must be a list of at least one message');
  }
  return Object.fromEntries(Object.entries(line).filter(([name]) => !ABOUT.has(name)));
}

/** A text, or a number such as that of a product. */
function textOf(line: JsonObject, field: string): string | null {
  const value = line[field];
  if (!isGiven(value)) return null;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') throw new BadLine(`${field} must be a text`);
  return value;
}

function isGiven(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}
