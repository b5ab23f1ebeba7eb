import type { AnswerPart, AnswerParts } from './answer';

/** The same parts; `ended` is told when they are whole, were read to their end, have failed or were left. */
export function withEnd(parts: AnswerParts, ended: () => void): AnswerParts {
  if (parts.whole !== undefined) {
    ended();
    return parts;
  }
  return { [Symbol.asyncIterator]: () => new EndingIterator(parts[Symbol.asyncIterator](), ended) };
}

// By hand, as a generator that was never started ends without a word to its source.
class EndingIterator implements AsyncIterator<AnswerPart> {
  constructor(
    private readonly source: AsyncIterator<AnswerPart>,
    private readonly ended: () => void,
  ) {}

  async next(): Promise<IteratorResult<AnswerPart>> {
    try {
      const result = await this.source.next();
      if (result.done) this.ended();
      return result;
    } catch (error) {
      this.ended();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<AnswerPart>> {
    // Whatever the source has to wait for, the call is over now.
    const left = this.source.return?.();
    this.ended();
    await left;
    return { done: true, value: undefined };
  }
}
