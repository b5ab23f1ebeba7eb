import fc from 'fast-check';
import { EventParser, EventTooLarge } from './event-parser';

function parse(pieces: readonly Buffer[]): string[] {
  const parser = new EventParser(1000);
  return [...pieces.flatMap(piece => parser.push(piece)), ...parser.finish()];
}

describe('EventParser', () => {
  it.each([
    ['LF', 'data: a\n\ndata: b\n\n'],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n'],
    ['CR', 'data: a\r\rdata: b\r\r'],
    ['mixed line ends', 'data: a\r\n\ndata: b\r\n\r'],
    ['no space', 'data:a\n\ndata:b\n\n'],
    ['comments, names and ids', ': ping\n\nevent: x\nid: 1\ndata: a\nretry: 5\n\n:\n\ndata: b\n\n'],
    ['empty data', 'data:\n\ndata\n\ndata: a\n\ndata: b\n\n'],
    ['a forgotten last line', 'data: a\n\ndata: b'],
    ['fields that only begin like data', 'database: x\ndat: y\ndata: a\n\ndata: b\n\n'],
  ])('reads %s', (_name, text) => {
    expect(parse([Buffer.from(text)])).toEqual(['a', 'b']);
    expect(parse([...Buffer.from(text)].map(byte => Buffer.from([byte])))).toEqual(['a', 'b']);
  });

  it('joins lines of data and keeps further spaces', () => {
    expect(parse([Buffer.from('data: {"a":\ndata:  1}\n\n')])).toEqual(['{"a":\n 1}']);
  });

  it('reads the same however the bytes are cut', () => {
    const text = fc.stringMatching(/^[^\r\n\0]+$/).filter(value => value.isWellFormed());
    const ends = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), ends, fc.array(fc.nat(200)), (events, end, cuts) => {
        const bytes = Buffer.from(events.map(event => `data: ${event}${end}${end}`).join(''));
        const places = [0, ...cuts.filter(cut => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
        expect(parse(pieces)).toEqual(events);
      }),
    );
  });

  it('refuses a line without end', () => {
    const parser = new EventParser(1000);
    expect(() => {
      for (let count = 0; count < 20; count++) parser.push(Buffer.alloc(100, 'x'));
    }).toThrow(EventTooLarge);
  });

  it('refuses an event of lines without end', () => {
    const parser = new EventParser(1000);
    expect(() => {
      for (let count = 0; count < 20; count++) parser.push(Buffer.from(`data: ${'x'.repeat(100)}\n`));
    }).toThrow(EventTooLarge);
  });
});
