import { setTimeout as sleep } from 'node:timers/promises';

type Json = Readonly<Record<string, unknown>>;

/** How server-sent events are framed; all of these are legal. */
type Framing = 'lf' | 'crlf' | 'cr' | 'nospace' | 'multiline';

/** One item of a stream: an event, unless it has one of these fields. */
interface StreamObject {
  /** Bytes as they are. */
  readonly raw?: string;
  readonly b64?: string;
  /** Milliseconds. */
  readonly sleep?: number;
  /** One chunk of so many characters. */
  readonly gen_text?: number;
  readonly raw_gen?: { readonly prefix: string; readonly char: string; readonly n: number };
  readonly drip?: { readonly text: string; readonly every_ms: number; readonly count: number };
  readonly [field: string]: unknown;
}

export type StreamItem = '[DONE]' | StreamObject;

/** One scripted answer, in the shape of the case bank. */
export interface Step {
  readonly match?: Match;
  /** How often it is used; default: once, and the last one without a `match` for ever. */
  readonly times?: number;
  readonly status?: number;
  /** A value `@httpdate+2s` becomes the HTTP date in two seconds. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
  readonly text_gen?: { readonly char: string; readonly n: number };
  readonly body_parts?: readonly (
    { readonly text: string } | { readonly json: unknown } | { readonly sleep: number }
  )[];
  readonly sse?: readonly StreamItem[];
  /** Embeddings of `dim` (8) numbers. */
  readonly embed_ok?: boolean;
  readonly dim?: number;
  readonly frame?: Framing;
  /** Bytes per write. */
  readonly split?: number;
  readonly gap_ms?: number;
  readonly ttfb_ms?: number;
  readonly gzip?: boolean;
  readonly end?: 'close' | 'reset' | 'hang';
  readonly no_response?: 'hang' | 'reset' | 'refuse';
  readonly keepalive_close_after_ms?: number;
}

interface Match {
  readonly raw_body_has?: string;
  /** Fields the body has; `*` stands for any value. */
  readonly json?: Json;
  readonly json_not?: Json;
  /** A path such as `messages[0].name`. */
  readonly json_path_missing?: string;
  readonly last_user?: string;
  readonly header?: Readonly<Record<string, string>>;
}

const LINE_ENDS: Readonly<Record<Framing, string>> = {
  lf: '\n',
  crlf: '\r\n',
  cr: '\r',
  nospace: '\n',
  multiline: '\n',
};
const BLOCK = 65_536;

/** Waits, but keeps no process alive: what an answer waits for may outlive its test. */
export async function pause(ms: number): Promise<void> {
  await sleep(ms, undefined, { ref: false });
}

/** Whether a step is meant for a request. */
export function matches(match: Match, headers: Readonly<Record<string, unknown>>, text: string): boolean {
  const body = parse(text);
  if (match.raw_body_has !== undefined && !text.includes(match.raw_body_has)) return false;
  if (match.json && !contains(body, match.json)) return false;
  if (match.json_not && contains(body, match.json_not)) return false;
  if (match.json_path_missing !== undefined && valueAt(body, match.json_path_missing) !== undefined) return false;
  if (match.last_user !== undefined && lastUserText(body) !== match.last_user) return false;
  return Object.entries(match.header ?? {}).every(([name, value]) => headers[name] === value);
}

/** The bytes of a step's answer, piece by piece, in its own time. */
export async function* piecesOf(step: Step): AsyncGenerator<Buffer> {
  const frame = step.frame ?? 'lf';
  for (const [index, item] of (step.sse ?? []).entries()) {
    if (index > 0 && step.gap_ms) await pause(step.gap_ms);
    yield* piecesOfItem(item, frame);
  }
  for (const part of step.body_parts ?? []) {
    if ('sleep' in part) await pause(part.sleep);
    else yield Buffer.from('text' in part ? part.text : JSON.stringify(part.json));
  }
  if (step.json !== undefined) yield Buffer.from(JSON.stringify(step.json));
  if (step.text !== undefined) yield Buffer.from(step.text);
  if (step.text_gen) yield* repeated(step.text_gen.char, step.text_gen.n);
  if (step.embed_ok) yield Buffer.from(JSON.stringify(embeddings(step.dim ?? 8)));
}

async function* piecesOfItem(item: StreamItem, frame: Framing): AsyncGenerator<Buffer> {
  const { sleep: silence, raw, b64, gen_text, raw_gen, drip } = item === '[DONE]' ? {} : item;
  if (silence !== undefined) await pause(silence);
  else if (raw !== undefined) yield Buffer.from(raw);
  else if (b64 !== undefined) yield Buffer.from(b64, 'base64');
  else if (gen_text !== undefined) yield framed(chunk('a'.repeat(gen_text)), frame);
  else if (raw_gen) {
    yield Buffer.from(raw_gen.prefix);
    yield* repeated(raw_gen.char, raw_gen.n);
  } else if (drip) {
    for (let count = 0; count < drip.count; count++) {
      await pause(drip.every_ms);
      yield Buffer.from(drip.text);
    }
  } else yield framed(item, frame);
}

function framed(event: '[DONE]' | Json, frame: Framing): Buffer {
  const end = LINE_ENDS[frame];
  const name = frame === 'nospace' ? 'data:' : 'data: ';
  const data = event === '[DONE]' ? event : JSON.stringify(event);
  if (frame !== 'multiline' || event === '[DONE]') return Buffer.from(name + data + end + end);
  const cut = data.indexOf(',"') + 1;
  return Buffer.from(name + data.slice(0, cut) + end + name + data.slice(cut) + end + end);
}

function* repeated(character: string, count: number): Generator<Buffer> {
  for (let left = count; left > 0; left -= BLOCK) yield Buffer.from(character.repeat(Math.min(left, BLOCK)));
}

function chunk(content: string): Json {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'real-primary',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  };
}

function embeddings(dimensions: number): Json {
  const embedding = Array.from({ length: dimensions }, (_, index) => Math.sin(index + 1));
  return { object: 'list', data: [{ index: 0, embedding }], usage: { prompt_tokens: 1, total_tokens: 1 } };
}

function contains(body: unknown, wanted: Json): boolean {
  return Object.entries(wanted).every(([key, value]) => {
    const found = valueAt(body, key);
    if (value === '*') return found !== undefined;
    return value === null ? found === undefined || found === null : JSON.stringify(found) === JSON.stringify(value);
  });
}

function valueAt(body: unknown, path: string): unknown {
  const keys = path.replace(/\[(\d+)\]/g, '.$1').split('.');
  return keys.reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], body);
}

function lastUserText(body: unknown): unknown {
  const messages = (valueAt(body, 'messages') ?? []) as { role?: string; content?: unknown }[];
  return messages.findLast(message => message.role === 'user')?.content;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
