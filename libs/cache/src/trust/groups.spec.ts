import { Groups } from './groups';

describe('groups of questions that share an answer', () => {
  it('grow by judgement, across all that was judged before', () => {
    const groups = new Groups();
    groups.join('a', 'b');
    groups.join('c', 'd');
    expect(groups.of('a')).toBe(groups.of('b'));
    expect(groups.of('a')).not.toBe(groups.of('c'));
    groups.join('b', 'd');
    expect(new Set(['a', 'b', 'c', 'd'].map(id => groups.of(id))).size).toBe(1);
    expect(groups.sizeOf('c')).toBe(4);
  });

  it('leave a question that nobody judged alone', () => {
    const groups = new Groups();
    groups.join('a', 'b');
    expect([groups.of('x'), groups.sizeOf('x')]).toEqual(['x', 1]);
  });

  it('count a pair once, however often it is judged', () => {
    const groups = new Groups();
    for (let time = 0; time < 3; time++) groups.join('a', 'b');
    expect(groups.sizeOf('a')).toBe(2);
  });

  it('let go of a question without parting the others, even of the one that named the group', () => {
    const groups = new Groups();
    groups.join('a', 'b');
    groups.join('a', 'c');
    groups.forget('a');
    expect(groups.of('b')).toBe(groups.of('c'));
    expect(groups.of('a')).not.toBe(groups.of('b'));
  });

  it('remember the latest questions only', () => {
    const groups = new Groups(4);
    for (let pair = 0; pair < 50; pair++) groups.join(`a${pair}`, `b${pair}`);
    expect(groups.of('a0')).not.toBe(groups.of('b0'));
    expect(groups.of('a49')).toBe(groups.of('b49'));
  });
});
