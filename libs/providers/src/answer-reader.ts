import {
  chunkPart,
  isJsonObject,
  wholePart,
  type AnswerPart,
  type JsonObject,
  type Operation,
} from '@spillway/contracts';
import { choicesOf, finishReasonOf, hasContent } from './content';
import { EventParser, EventTooLarge } from './event-parser';
import type { ByteSource } from './exchange';
import { UpstreamFailure } from './upstream-failure';

/** Bytes of one event, and of one whole answer; what is larger is a fault of the provider. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
const MAX_ANSWER_BYTES = 96 * 1024 * 1024;

const OPENING_BRACE = 0x7b;
const LESS_THAN = 0x3c;
/** White space, and the three bytes of a byte order mark. */
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/** What the reader of an answer needs to know of the call it belongs to. */
export interface ReadingContext {
  readonly operation: Operation;
  /** Told once, when the first content is there. */
  readonly onContent: () => void;
  /** Turns an error that came inside of a 200 into a failure. */
  readonly failureOf: (json: string) => UpstreamFailure;
}

/**
 * Reads a 200 as what it is, one JSON body or a stream of chunks, whatever its content type claims and whatever was
 * asked for. Ends only after a complete answer; anything less is thrown as an UpstreamFailure.
 */
export async function* readAnswer(source: ByteSource, context: ReadingContext): AsyncGenerator<AnswerPart> {
  const first = await skipBlanks(source);
  if (first === null) throw new UpstreamFailure('empty', 'The model answered with nothing.');
  if (first[0] === OPENING_BRACE) {
    context.onContent();
    yield wholeAnswer(await readToEnd(first, source), context);
  } else if (first[0] === LESS_THAN || context.operation === 'embeddings') {
    throw new UpstreamFailure('protocol', 'The model answered with something that is not JSON.');
  } else {
    yield* chunksOf(first, source, context);
  }
}

async function skipBlanks(source: ByteSource): Promise<Buffer | null> {
  for (let piece = await source.read(); piece !== null; piece = await source.read()) {
    const start = piece.findIndex(byte => !BLANKS.has(byte));
    if (start >= 0) return start === 0 ? piece : piece.subarray(start);
  }
  return null;
}

async function readToEnd(first: Buffer, source: ByteSource): Promise<string> {
  const pieces = [first];
  let bytes = first.length;
  for (let piece = await source.read(); piece !== null; piece = await source.read()) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES) throw new UpstreamFailure('protocol', 'The answer of the model is too large.');
  }
  return (pieces.length === 1 ? first : Buffer.concat(pieces, bytes)).toString('utf8');
}

function wholeAnswer(json: string, { operation, failureOf }: ReadingContext): AnswerPart {
  const body = parseObject(json);
  if (!body) throw new UpstreamFailure('protocol', 'The model answered with something that is not JSON.');
  if (body['error']) throw failureOf(json);
  const empty = operation === 'chat' ? isEmptyChat(body) : !Array.isArray(body['data']) || body['data'].length === 0;
  if (empty) throw new UpstreamFailure('empty', 'The model answered without content.');
  return wholePart(body, json);
}

/** No choices, or choices that all just stopped; one that ended for another reason says something by that. */
function isEmptyChat(body: JsonObject): boolean {
  return !hasContent(body) && choicesOf(body).every(choice => (finishReasonOf(choice) ?? 'stop') === 'stop');
}

async function* chunksOf(first: Buffer, source: ByteSource, context: ReadingContext): AsyncGenerator<AnswerPart> {
  const progress = new StreamProgress(context.onContent);
  try {
    for await (const events of eventsOf(first, source)) {
      for (const data of events) {
        if (data === '[DONE]') return progress.done();
        const part = chunkOf(data, context);
        if (!part) continue;
        progress.note(part.body);
        yield part;
      }
    }
  } catch (error) {
    if (!progress.complete || !lostConnection(error)) throw error;
  }
  progress.ended();
}

/** The data of the events that each piece completes. */
async function* eventsOf(first: Buffer, source: ByteSource): AsyncGenerator<string[]> {
  const parser = new EventParser(MAX_EVENT_BYTES);
  try {
    for (let piece: Buffer | null = first; piece !== null; piece = await source.read()) yield parser.push(piece);
  } catch (error) {
    if (!(error instanceof EventTooLarge)) throw error;
    throw new UpstreamFailure('protocol', 'A chunk of the model is too large.');
  }
  // What the end cut off is no event; the missing finish_reason will tell.
  yield parser.finish().filter(data => data === '[DONE]' || parseObject(data) !== null);
}

/** After the last finish_reason all has been said, whatever becomes of the connection. */
function lostConnection(error: unknown): boolean {
  return error instanceof UpstreamFailure && (error.kind === 'network' || error.kind === 'timeout');
}

/** Null for events that bring no chunk, such as pings. */
function chunkOf(data: string, { failureOf }: ReadingContext): AnswerPart | null {
  const body = parseObject(data);
  if (!body) throw new UpstreamFailure('protocol', 'The model sent a chunk that is not JSON.');
  if (body['error']) throw failureOf(data);
  if (!Array.isArray(body['choices'])) return null;
  // A line break would end the line of the event it is sent on in.
  return data.includes('\n') ? chunkPart(body) : chunkPart(body, data);
}

function parseObject(json: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Knows whether a stream has said all it had to say. */
class StreamProgress {
  private readonly open = new Set<number>();
  private readonly finished = new Set<number>();
  private hasContent = false;
  private onlyStopped = true;

  constructor(private readonly onContent: () => void) {}

  /** Whether every choice seen has come to its end. */
  get complete(): boolean {
    return this.finished.size > 0 && this.open.size === 0;
  }

  note(body: JsonObject): void {
    for (const choice of choicesOf(body)) this.noteChoice(choice);
    if (this.hasContent || !hasContent(body)) return;
    this.hasContent = true;
    this.onContent();
  }

  /** The stream said that it is done. */
  done(): void {
    this.ended(this.finished.size > 0);
  }

  /** The stream is over. */
  ended(complete = this.complete): void {
    if (!complete && this.open.size + this.finished.size === 0) {
      throw new UpstreamFailure('empty', 'The model answered with an empty stream.');
    }
    if (!complete) throw new UpstreamFailure('truncated', 'The answer of the model broke off.');
    if (!this.hasContent && this.onlyStopped) throw new UpstreamFailure('empty', 'The model answered without content.');
  }

  private noteChoice(choice: JsonObject): void {
    const index = typeof choice['index'] === 'number' ? choice['index'] : 0;
    const reason = finishReasonOf(choice);
    if (reason === null) {
      if (!this.finished.has(index)) this.open.add(index);
      return;
    }
    this.open.delete(index);
    this.finished.add(index);
    if (reason !== 'stop') this.onlyStopped = false;
  }
}
