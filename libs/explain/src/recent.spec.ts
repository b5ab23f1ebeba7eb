import { Recent } from './recent';

const last = (items: number, bytes: number): Recent<string> => new Recent(items, bytes, item => item.length);
const kept = (recent: Recent<string>, of: readonly string[]): string[] =>
  of.filter(item => recent.find(other => other === item) !== undefined);

describe('the most recent', () => {
  it('are so many at most, the oldest gone first, however often the ring goes round', () => {
    const recent = last(3, 1_000);
    const all = Array.from({ length: 11 }, (_, index) => `item-${index}`);
    all.forEach((item, index) => {
      recent.add(item);
      expect(kept(recent, all)).toEqual(all.slice(Math.max(0, index - 2), index + 1));
    });
  });

  it('are so many bytes at most, and a large one displaces as many as it needs', () => {
    const recent = last(10, 10);
    for (const item of ['aaaa', 'bbb', 'cc']) recent.add(item);
    expect(kept(recent, ['aaaa', 'bbb', 'cc'])).toEqual(['aaaa', 'bbb', 'cc']);
    recent.add('dddddd');
    expect(kept(recent, ['aaaa', 'bbb', 'cc', 'dddddd'])).toEqual(['cc', 'dddddd']);
    recent.add('e'.repeat(50));
    expect(kept(recent, ['cc', 'dddddd', 'e'.repeat(50)])).toEqual(['e'.repeat(50)]);
  });

  it('find the latest that fits', () => {
    const recent = last(5, 100);
    for (const item of ['a1', 'b1', 'a2', 'b2']) recent.add(item);
    expect(recent.find(item => item.startsWith('a'))).toBe('a2');
  });

  it('are none where none are wanted', () => {
    const recent = last(0, 100);
    recent.add('a');
    expect(recent.find(() => true)).toBeUndefined();
  });
});
