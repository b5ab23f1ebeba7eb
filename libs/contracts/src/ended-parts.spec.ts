import { chunkPart, partsOf, wholePart, type AnswerPart } from './answer';
import { withEnd } from './ended-parts';

describe('withEnd', () => {
  const ended = jest.fn();
  beforeEach(() => void ended.mockReset());

  it('tells of the end of an answer, not of its parts', async () => {
    const parts = withEnd(partsOf(chunkPart({ a: 1 }), chunkPart({ a: 2 })), ended);
    for await (const part of parts) {
      expect(part.kind).toBe('chunk');
      expect(ended).not.toHaveBeenCalled();
    }
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('tells at once of an answer that is whole, and hands it on as it is', () => {
    const whole = partsOf(wholePart({ a: 1 }));
    expect(withEnd(whole, ended)).toBe(whole);
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('tells of a failure', async () => {
    const failing: AsyncIterable<AnswerPart> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('cut')) }),
    };
    await expect(withEnd(failing, ended)[Symbol.asyncIterator]().next()).rejects.toThrow('cut');
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('tells at once that an answer was left, even before its first part, and leaves its source', () => {
    const left = jest.fn(() => new Promise<never>(() => undefined));
    const source: AsyncIterable<AnswerPart> = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined), return: left }),
    };
    void withEnd(source, ended)[Symbol.asyncIterator]().return?.();
    expect(left).toHaveBeenCalledTimes(1);
    expect(ended).toHaveBeenCalledTimes(1);
  });
});
