import { createHash, hash, type Hash } from 'node:crypto';

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

  add(text: string): void {
    if (text === '') return;
    this.unhashed += text;
    if (this.head.length < 2 * SNIPPET_CHARACTERS) this.head = (this.head + text).slice(0, 2 * SNIPPET_CHARACTERS);
    this.tail = (this.tail + text).slice(-SNIPPET_CHARACTERS);
    this.length += text.length;
    if (this.unhashed.length < TOGETHER) return;
    this.hash = (this.hash ?? createHash('sha256')).update(this.unhashed);
    this.unhashed = '';
  }

  /** The first 16 hexadecimal digits of SHA-256 and the snippet; null for an empty answer. Call it once. */
  finish(): { readonly hash: string; readonly snippet: string } | null {
    if (this.length === 0) return null;
    const short = this.length <= 2 * SNIPPET_CHARACTERS;
    const snippet = short ? this.head : `${this.head.slice(0, SNIPPET_CHARACTERS)} … ${this.tail}`;
    const whole = this.hash?.update(this.unhashed).digest('hex') ?? hash('sha256', this.unhashed);
    return { hash: whole.slice(0, 16), snippet: snippet.toWellFormed() };
  }
}
