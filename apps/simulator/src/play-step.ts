import { once } from 'node:events';
import { createGzip, constants, type Gzip } from 'node:zlib';
import type { JsonObject } from '@spillway/contracts';
import { embeddingJson, inputsOf } from './embedding';
import type { Reply } from './reply';
import type { SpecialItem, SseItem, Step } from './script';

type Frame = NonNullable<Step['frame']>;

const BLOCK = 65_536;

/** Plays one scripted answer, byte for byte as it is written. */
export async function playStep(reply: Reply, step: Step, body: JsonObject | null, now: number): Promise<void> {
  if (step.no_response !== undefined) return refuseToAnswer(reply, step.no_response);
  await reply.pause(step.ttfb_ms ?? 0);
  if (!reply.open) return;
  reply.head(step.status ?? 200, headersOf(step, now));
  if (step.keepalive_close_after_ms !== undefined) reply.cutOffAfter(step.keepalive_close_after_ms);
  reply.flushHead();
  const output = step.gzip === true ? new GzipOutput(reply) : reply;
  for await (const piece of contentOf(reply, step, body)) {
    await writeSplit(output, piece, step.split ?? piece.length);
    if (!reply.open) return;
  }
  if (step.end === 'hang') return;
  if (step.end === 'reset') {
    await reply.letWritesLeave();
    return reply.reset();
  }
  await output.end();
}

function refuseToAnswer(reply: Reply, how: 'hang' | 'reset' | 'refuse'): void {
  switch (how) {
    case 'hang':
      return;
    case 'reset':
      return reply.reset();
    case 'refuse':
      return reply.cutOff();
    default:
      how satisfies never;
  }
}

function headersOf(step: Step, now: number): Record<string, string> {
  const isJson = step.json !== undefined || step.embed_ok === true;
  const headers: Record<string, string> = isJson ? { 'content-type': 'application/json' } : {};
  for (const [name, value] of Object.entries(step.headers ?? {})) {
    const date = /^@httpdate([+-]\d+)s$/.exec(value);
    const text = date === null ? value : new Date(now + Number(date[1]) * 1000).toUTCString();
    headers[name.toLowerCase()] = text.replace(/[^\t\x20-\x7e]/g, '?');
  }
  if (step.gzip === true) headers['content-encoding'] = 'gzip';
  return headers;
}

interface Output {
  write(data: Buffer): Promise<void>;
  end(): void | Promise<void>;
}

/** Compresses, and sends on what it has after every write, so that a stream stays one. */
class GzipOutput implements Output {
  private readonly gzip: Gzip = createGzip();
  private forwarded: Promise<void> = Promise.resolve();

  constructor(private readonly reply: Reply) {
    this.gzip.on('data', (data: Buffer) => {
      this.forwarded = this.forwarded.then(() => reply.write(data));
    });
  }

  async write(data: Buffer): Promise<void> {
    this.gzip.write(data);
    await new Promise<void>(resolve => this.gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    await this.forwarded;
  }

  async end(): Promise<void> {
    const ended = once(this.gzip, 'end');
    this.gzip.end();
    await ended;
    await this.forwarded;
    this.reply.end();
  }
}

async function writeSplit(output: Output, piece: Buffer, size: number): Promise<void> {
  if (size >= piece.length) return output.write(piece);
  for (let from = 0; from < piece.length; from += size) {
    await output.write(piece.subarray(from, from + size));
    // A turn of the loop in between, so that the writes stay apart.
    await new Promise(resolve => setImmediate(resolve));
  }
}

async function* contentOf(reply: Reply, step: Step, body: JsonObject | null): AsyncGenerator<Buffer> {
  for (const [index, item] of (step.sse ?? []).entries()) {
    if (index > 0) await reply.pause(step.gap_ms ?? 0);
    yield* eventContent(reply, item, step.frame ?? 'lf');
  }
  for (const part of step.body_parts ?? []) {
    if ('sleep' in part) await reply.pause(part.sleep);
    else yield Buffer.from('json' in part ? JSON.stringify(part.json) : part.text);
  }
  if (step.json !== undefined) yield Buffer.from(JSON.stringify(step.json));
  if (step.text !== undefined) yield Buffer.from(step.text);
  if (step.text_gen !== undefined) yield* repeated(step.text_gen.char, step.text_gen.n);
  if (step.embed_ok === true) {
    const asked = body ?? {};
    const model = typeof asked['model'] === 'string' ? asked['model'] : '';
    yield Buffer.from(embeddingJson(asked, model, inputsOf(asked) ?? [''], step.dim ?? 8));
  }
}

async function* eventContent(reply: Reply, item: SseItem, form: Frame): AsyncGenerator<Buffer> {
  if (item === '[DONE]') return yield frame(item, form);
  const special = item as SpecialItem;
  if (special.sleep !== undefined) return await reply.pause(special.sleep);
  if (special.raw !== undefined) return yield Buffer.from(special.raw);
  if (special.b64 !== undefined) return yield Buffer.from(special.b64, 'base64');
  if (special.gen_text !== undefined) return yield frame(textEvent('a'.repeat(special.gen_text)), form);
  if (special.gen_chunks !== undefined) {
    for (let count = 0; count < special.gen_chunks; count += 1) yield frame(textEvent('x'), form);
    return;
  }
  if (special.raw_gen !== undefined) {
    yield Buffer.from(special.raw_gen.prefix);
    return yield* repeated(special.raw_gen.char, special.raw_gen.n);
  }
  if (special.drip !== undefined) {
    for (let count = 0; count < special.drip.count && reply.open; count += 1) {
      await reply.pause(special.drip.every_ms);
      yield Buffer.from(special.drip.text);
    }
    return;
  }
  yield frame(JSON.stringify(item), form);
}

function textEvent(content: string): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return JSON.stringify({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'scripted',
    choices,
  });
}

/** One event in one of the forms that the standard allows. */
function frame(data: string, form: Frame): Buffer {
  const line = { lf: '\n', crlf: '\r\n', cr: '\r', nospace: '\n', multiline: '\n' }[form];
  const field = form === 'nospace' ? 'data:' : 'data: ';
  const comma = data.indexOf(',"') + 1;
  const lines = form === 'multiline' && comma > 0 ? [data.slice(0, comma), data.slice(comma)] : [data];
  return Buffer.from(`${lines.map(text => field + text).join(line)}${line}${line}`);
}

function* repeated(char: string, count: number): Generator<Buffer> {
  for (let left = count; left > 0; left -= BLOCK) yield Buffer.from(char.repeat(Math.min(left, BLOCK)));
}
