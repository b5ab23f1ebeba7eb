import { createHash } from 'node:crypto';

const SNIPPET_CHARACTERS = 20;

/** Hash and first and last characters of an answer, gathered while it passes by without keeping it. */
export class ResponseDigest {
  private readonly hash = createHash('sha256');
  private head = '';
  private tail = '';
  private length = 0;

  add(text: string): void {
    if (text === '') return;
    this.hash.update(text);
    if (this.head.length < 2 * SNIPPET_CHARACTERS) this.head = (this.head + text).slice(0, 2 * SNIPPET_CHARACTERS);
    this.tail = (this.tail + text).slice(-SNIPPET_CHARACTERS);
    this.length += text.length;
  }

  /** The first 16 hexadecimal digits of SHA-256 and the snippet; null for an empty answer. Call it once. */
  finish(): { readonly hash: string; readonly snippet: string } | null {
    if (this.length === 0) return null;
    const short = this.length <= 2 * SNIPPET_CHARACTERS;
    const snippet = short ? this.head : `${this.head.slice(0, SNIPPET_CHARACTERS)} … ${this.tail}`;
    return { hash: this.hash.digest('hex').slice(0, 16), snippet: snippet.toWellFormed() };
  }
}
