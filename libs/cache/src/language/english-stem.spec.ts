import { stem } from './english-stem';

describe('the stem of a word', () => {
  it.each([
    ['orders', 'order'],
    ['changing', 'changes'],
    ['cancelling', 'cancel'],
    ['batteries', 'battery'],
    ['boxes', 'box'],
    ['colour', 'color'],
    ['organise', 'organizing'],
    ['cancelled', 'canceled'],
    ['centre', 'center'],
    ['licence', 'license'],
  ])('is the same for %s and %s', (a, b) => {
    expect(stem(a)).toBe(stem(b));
  });

  it.each([
    ['played', 'play'],
    ['news', 'new'],
    ['checking', 'check'],
    ['gifted', 'gift'],
    ['plane', 'plan'],
    ['sing', 's'],
  ])('differs for %s and %s', (a, b) => {
    expect(stem(a)).not.toBe(stem(b));
  });
});
