import fc from 'fast-check';
import { InOrder } from './in-order';

it('takes values in the order in which what they tell of began', () => {
  const ends = fc.array(fc.record({ order: fc.double({ noNaN: true }), value: fc.option(fc.nat()) }), {
    maxLength: 50,
  });
  fc.assert(
    fc.property(ends, planned => {
      const taken: number[] = [];
      const inOrder = new InOrder<number>(value => taken.push(value));
      const begun = planned.map(one => ({ ...one, end: inOrder.begin() }));
      for (const { end, value } of [...begun].sort((one, other) => one.order - other.order)) end(value);
      expect(taken).toEqual(planned.map(({ value }) => value).filter(value => value !== null));
    }),
  );
});

it('takes each once', () => {
  const taken: string[] = [];
  const end = new InOrder<string>(value => taken.push(value)).begin();
  end('once');
  end('twice');
  expect(taken).toEqual(['once']);
});

it('waits for one that takes long, but not for ever, and takes that one late', () => {
  const taken: number[] = [];
  const inOrder = new InOrder<number>(value => taken.push(value));
  const endOfLong = inOrder.begin();
  for (let index = 0; index < 256; index++) inOrder.begin()(index);
  expect(taken).toEqual([]);
  inOrder.begin()(256);
  expect(taken).toHaveLength(257);
  endOfLong(-1);
  expect(taken.at(-1)).toBe(-1);
});
