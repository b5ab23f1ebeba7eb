import { isJsonObject, type AnswerDigest, type AnswerPart, type JsonObject, type Usage } from '@spillway/contracts';
import { randomUuid } from '@spillway/telemetry';

/** A whole completion as it is kept: a hit sets its own id and time before it and serialises nothing. */
export interface CachedAnswer {
  /** The completion's JSON text after its `id` and `created`, up to the end. */
  readonly rest: string;
  /** Of `rest`, where it was counted. */
  readonly restBytes?: number;
  /** The configured name of the model that answered. */
  readonly model: string | null;
  readonly usage: Usage | null;
  /** Null where it says nothing but calls of tools. */
  readonly digest: AnswerDigest | null;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Milliseconds since the epoch until which it is kept for when nothing else can answer; absent: until it expires. */
  readonly staleUntil?: number;
}

/** Until when an answer is kept, whatever for; milliseconds since the epoch. */
export function keptUntil({ expiresAt, staleUntil = expiresAt }: CachedAnswer): number {
  return Math.max(expiresAt, staleUntil);
}

/** What follows `id` and `created` in a completion's text. */
export function restOf(body: JsonObject): string {
  const { id: _id, created: _created, ...others } = body;
  return JSON.stringify(others).slice(1);
}

/** The answer as a completion made `now`. */
export function replay(answer: CachedAnswer, now: number): AnswerPart {
  const start = `{"id":"chatcmpl-${randomUuid()}","created":${Math.floor(now / 1000)},`;
  const { rest, restBytes = Buffer.byteLength(rest) } = answer;
  return new Replay(start + rest, start.length + restBytes);
}

/** Most hits are sent as text: parsed only for whoever looks inside. */
class Replay implements AnswerPart {
  readonly kind = 'whole';
  private parsed: JsonObject | null = null;

  constructor(
    readonly json: string,
    readonly bytes: number,
  ) {}

  get body(): JsonObject {
    return (this.parsed ??= JSON.parse(this.json) as JsonObject);
  }
}

/** A line of facts, then the completion's text as it is. */
export function encode({ rest, ...facts }: CachedAnswer): string {
  return `${JSON.stringify(facts)}\n${rest}`;
}

/** Null for what `encode` did not write. */
export function decode(text: string): CachedAnswer | null {
  const end = text.indexOf('\n');
  if (end < 0) return null;
  try {
    const facts: unknown = JSON.parse(text.slice(0, end));
    if (!isJsonObject(facts) || typeof facts['expiresAt'] !== 'number') return null;
    return { ...(facts as unknown as Omit<CachedAnswer, 'rest'>), rest: text.slice(end + 1) };
  } catch {
    return null;
  }
}
