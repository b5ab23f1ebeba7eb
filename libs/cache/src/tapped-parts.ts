import type { AnswerPart, AnswerParts } from '@spillway/contracts';

/** Sees an answer pass by. */
export interface Tap {
  part(part: AnswerPart): void;
  /** After the last part of an answer that was whole, or read to its end; never after a failure or an early leave. */
  end(): void;
}

/**
 * The same parts, seen by a tap: what is whole already at once, else while it passes. Leaving them reaches their source,
 * even when none was read.
 */
export function tapped(parts: AnswerParts, tap: Tap): AnswerParts {
  if (parts.whole !== undefined) {
    tap.part(parts.whole);
    tap.end();
    return parts;
  }
  return { [Symbol.asyncIterator]: () => new TappedIterator(parts[Symbol.asyncIterator](), tap) };
}

// By hand, as a generator that was never started ends without a word to its source.
class TappedIterator implements AsyncIterator<AnswerPart> {
  private over = false;

  constructor(
    private readonly source: AsyncIterator<AnswerPart>,
    private readonly tap: Tap,
  ) {}

  async next(): Promise<IteratorResult<AnswerPart>> {
    try {
      const result = await this.source.next();
      if (!this.over) this.see(result);
      return result;
    } catch (error) {
      this.over = true;
      throw error;
    }
  }

  async return(): Promise<IteratorResult<AnswerPart>> {
    this.over = true;
    await this.source.return?.();
    return { done: true, value: undefined };
  }

  private see(result: IteratorResult<AnswerPart>): void {
    if (!result.done) {
      this.tap.part(result.value);
      return;
    }
    this.over = true;
    this.tap.end();
  }
}
