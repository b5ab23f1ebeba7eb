import { AloneBook } from './alone-book';

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
const call = (tokens: number, at = NOW) => ({ model: 'm', rank: 1, tokens, at });

describe('what a process has used alone', () => {
  let book: AloneBook;
  const told = (now = NOW): (readonly [string | null, number, number])[] =>
    book.take(now).map(({ ticket, calls, tokens }) => [ticket, calls, tokens]);
  beforeEach(() => (book = new AloneBook()));

  it('is told once: calls under way one by one, those that have ended together', () => {
    for (const ticket of ['a', 'b', 'c']) book.began(ticket, call(10));
    book.end('a', 3);
    book.end('b', null);
    expect(told()).toEqual([
      ['c', 1, 10],
      [null, 2, 13],
    ]);
    expect(told()).toEqual([]);
  });

  it('is not counted again once a call that others were told of has ended: it is theirs to end', () => {
    book.began('a', call(10));
    expect([told(), book.isTold('a')]).toEqual([[['a', 1, 10]], true]);
    book.end('a', 3);
    expect([told(), book.isTold('a')]).toEqual([[], false]);
  });

  it('is told again where nobody heard of it, as it is then', () => {
    book.began('a', call(10));
    book.began('b', call(10));
    const uses = book.take(NOW);
    book.end('b', 4);
    book.giveBack(uses);
    expect(told()).toEqual([
      ['a', 1, 10],
      [null, 1, 10],
    ]);
  });

  it('is nothing of a call that was never made, nor of one whose day is over', () => {
    book.began('a', call(10));
    book.cancel('a');
    book.began('old', call(10));
    book.end('old', 10);
    expect(told(NOW + DAY_MS)).toEqual([]);
  });
});
