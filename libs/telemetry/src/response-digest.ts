import { createHash, hash, type Hash } from 'node:crypto';
import type { AnswerDigest, JsonObject } from '@spillway/contracts';
import { contentOf } from './answer-text';

const SNIPPET_CHARACTERS = 20;
/** Characters that are hashed together, because each step of a hash costs more than a chunk's few bytes. */
const TOGETHER = 4096;

/** Hash and first and last characters of an answer, gathered while it passes by without keeping it. */
export class ResponseDigest {
  private hash: Hash | null = null;
  private unhashed = '';
  private head = '';
  private tail = '';
  private length = 0;

  /** The digest of an answer that is already whole. */
  static of(body: JsonObject): AnswerDigest | null {
    const digest = new ResponseDigest();
    digest.add(body);
    return digest.finish();
  }

  /** Takes in an answer, or one chunk of it. */
  add(body: JsonObject): void {
    const text = contentOf(body);
    if (text === '') return;
    this.unhashed += text;
    if (this.head.length < 2 * SNIPPET_CHARACTERS) this.head = (this.head + text).slice(0, 2 * SNIPPET_CHARACTERS);
    this.tail = (this.tail + text).slice(-SNIPPET_CHARACTERS);
    this.length += text.length;
    if (this.unhashed.length < TOGETHER) return;
    this.hash = (this.hash ?? createHash('sha256')).update(this.unhashed);
    this.unhashed = '';
  }

  /** Null for an answer without text. Call it once. */
  finish(): AnswerDigest | null {
    if (this.length === 0) return null;
    const short = this.length <= 2 * SNIPPET_CHARACTERS;
    const snippet = short ? this.head : `${this.head.slice(0, SNIPPET_CHARACTERS)} … ${this.tail}`;
    const whole = this.hash?.update(this.unhashed).digest('hex') ?? hash('sha256', this.unhashed);
    return { hash: whole.slice(0, 16), snippet: snippet.toWellFormed() };
  }
}
