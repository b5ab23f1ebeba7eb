import { assembleCompletion } from './completion';
import { UpstreamError } from './errors';
import type { JsonObject } from './json';
import type { Outcome } from './outcome';

/**
 * One piece of an answer: a whole JSON body, or one chunk of a stream. `json` is the text to send, untouched where it
 * came from a model; `body` is the same, parsed.
 */
export interface AnswerPart {
  readonly kind: 'whole' | 'chunk';
  readonly json: string;
  /** Of `json`, where it is known: counting takes longer than sending. */
  readonly bytes?: number;
  readonly body: JsonObject;
}

/** The parts of an answer, in order. */
export interface AnswerParts extends AsyncIterable<AnswerPart> {
  /**
   * Present where one whole part is all there is, and is there already. Who finds it need not read, nor watch others
   * read: each layer of iterators costs a call some five turns of the queue of promises.
   */
  readonly whole?: AnswerPart | undefined;
}

/**
 * An answer under way. It exists only once its first content is there, so whoever holds one may commit to status 200.
 * `parts` is read once; a failure after the first part is thrown by it as a SpillwayError, and leaving it early
 * (`return`) cancels whatever feeds it.
 */
export interface Answer {
  readonly outcome: Outcome;
  readonly parts: AnswerParts;
  /**
   * Present where an equal request of the same caller needs nothing of its path but this answer again: gives it the
   * answer, of which all that the journal knows is true; null when it must walk the path after all. A stage that does
   * more for each call than look at it, such as counting it, hands on an answer without.
   */
  readonly repeat?: (now: number) => AnswerPart | null;
}

/** The parts of an answer that is already complete. */
export function partsOf(...parts: readonly AnswerPart[]): AnswerParts {
  return new ReadyParts(parts);
}

class ReadyParts implements AnswerParts {
  readonly whole: AnswerPart | undefined;

  constructor(private readonly parts: readonly AnswerPart[]) {
    const [first] = parts;
    if (parts.length === 1 && first?.kind === 'whole') this.whole = first;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AnswerPart> {
    yield* this.parts;
  }
}

export function wholePart(body: JsonObject, json: string = JSON.stringify(body)): AnswerPart {
  return { kind: 'whole', json, body };
}

export function chunkPart(body: JsonObject, json: string = JSON.stringify(body)): AnswerPart {
  return { kind: 'chunk', json, body };
}

/**
 * The parts of an answer as one JSON body.
 * @throws UpstreamError where there are none, or what the parts throw.
 */
export async function wholeOf(parts: AnswerParts): Promise<AnswerPart> {
  if (parts.whole !== undefined) return parts.whole;
  const chunks: JsonObject[] = [];
  for await (const part of parts) {
    if (part.kind === 'whole') return part;
    chunks.push(part.body);
  }
  if (chunks.length === 0) throw new UpstreamError('The model answered nothing.');
  return wholePart(assembleCompletion(chunks).body);
}
