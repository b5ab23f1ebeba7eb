import { read } from './reading';

describe('a text that is read again', () => {
  it('is not taken apart again', () => {
    const text = 'How do I descale the kettle?';
    expect(read(text)).toBe(read(text));
    expect(read(`${text} `)).toEqual(read(text));
  });

  it('is let go after enough others', () => {
    const first = read('Which kettle is the quietest?');
    for (let other = 0; other < 1_000; other++) read(`${'Another question about kettles. '.repeat(10)} ${other}`);
    expect(read('Which kettle is the quietest?')).not.toBe(first);
    expect(read('Which kettle is the quietest?')).toEqual(first);
  });

  it('may be empty', () => {
    expect(read('')).toEqual([]);
  });
});
