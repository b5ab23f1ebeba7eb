import { exactJson, parseExactJson } from './exact-json';
import type { JsonValue } from './json';

const roundTrip = (text: string): string => exactJson(parseExactJson(text) as JsonValue);

describe('Numbers', () => {
  it.each([
    '{"seed":9007199254740993}',
    '{"seed":9223372036854775807,"n":[-12345678901234567890,1]}',
    '{"a":1e400,"b":-1E+999,"c":1e309}',
    '{"text":"seed: 9007199254740993, \\"9007199254740993\\"","\\\\":9007199254740993}',
    '[9007199254740993,"\\\\",9007199254740993]',
    '9007199254740993',
  ])('that JavaScript cannot hold stay as they came: %s', text => {
    expect(roundTrip(text)).toBe(text);
  });

  it('that it can hold are numbers', () => {
    const text =
      '{"max_tokens":9007199254740991,"top_p":0.12345678901234567,"seed":-7,"big":1e3,"x":"12345678901234567890"}';
    expect(parseExactJson(text)).toEqual(JSON.parse(text));
  });

  it('that differ are different values', () => {
    expect(parseExactJson('9007199254740993')).not.toEqual(parseExactJson('9007199254740992'));
  });

  it.each([
    '{9007199254740993:1}',
    '[09007199254740993]',
    '[9007199254740993.]',
    '[+9007199254740993]',
    '[1e999e1]',
    '"9007199254740993',
  ])('do not make JSON of what is none: %s', text => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  it('of any length are refused in linear time where they are none', () => {
    const startedAt = performance.now();
    expect(() => parseExactJson(`[${'1'.repeat(100_000)}.]`)).toThrow(SyntaxError);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe('Texts', () => {
  it('keep whole emoji, and lose half ones', () => {
    expect(exactJson({ a: 'cut \ud83d', b: '\ud83d\ude80 \\ud83d', c: '\udbff' })).toBe(
      String.raw`{"a":"cut \ufffd","b":"🚀 \\ud83d","c":"\ufffd"}`,
    );
  });

  it('are never taken for a number where they hold more', () => {
    expect(exactJson({ a: '"\udbff12', b: '\udbff12"', c: 'x\udbff12' })).toBe(
      String.raw`{"a":"\"\ufffd12","b":"\ufffd12\"","c":"x\ufffd12"}`,
    );
  });

  it('of any length are read in linear time', () => {
    const text = JSON.stringify({ escapes: '\\'.repeat(200_000), quotes: '"'.repeat(100_000), seed: 1 });
    const whole = text.replace(':1}', ':9007199254740993}');
    const startedAt = performance.now();
    expect(roundTrip(whole)).toBe(whole);
    expect(performance.now() - startedAt).toBeLessThan(6_000);
  });
});
