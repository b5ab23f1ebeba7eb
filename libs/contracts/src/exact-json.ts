import type { JsonValue } from './json';

/**
 * Begins the text that stands for a number that JavaScript cannot hold. It is half of a surrogate pair in private use:
 * no text that anybody means begins with it, and none of these halves is ever sent to a model.
 */
const MARK = '\udbff';
const MAY_NOT_FIT = /\d{16}|\d[eE]\+?\d{3}/;
const SHORTEST = '1e400'.length;
/** Of valid JSON, where nothing else is written like that. */
const NUMBER = /-?\d[\d.eE+-]*/g;
/** A marked number, or any escape, so that what only looks like a mark (after `\\`) is passed over. */
const ESCAPED = /"\\udbff(-?\d[\d.eE+-]*)"|\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/**
 * Parses JSON whose numbers reach a model as they came: whole numbers over 2^53 and such as 1e400, which
 * `JSON.parse` would round or lose, become marked texts that `exactJson` turns back.
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  // As it is first: where it is no JSON nobody can tell in linear time what would be a number.
  const value = JSON.parse(text) as unknown;
  if (!MAY_NOT_FIT.test(text)) return value;
  const marked = markNumbers(text);
  return marked === text ? value : (JSON.parse(marked) as unknown);
}

/**
 * The text of a value as parsed above. Halves of surrogate pairs, which strict parsers refuse together with the whole
 * body, are replaced; `JSON.stringify` escapes exactly those as `\udXXX`.
 */
export function exactJson(value: JsonValue): string {
  const json = JSON.stringify(value);
  if (!json.includes('\\ud')) return json;
  return json.replace(ESCAPED, (escape, number?: string) => number ?? (escape.length > 2 ? '\\ufffd' : escape));
}

/** Looks between the texts only, most of which is too short to hold such a number. */
function markNumbers(text: string): string {
  let marked = '';
  let done = 0;
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const end = quote < 0 ? text.length : quote;
    const between = end - at < SHORTEST ? '' : text.slice(at, end);
    if (MAY_NOT_FIT.test(between)) {
      marked += text.slice(done, at) + between.replace(NUMBER, markUnlessItFits);
      done = end;
    }
    at = endOfText(text, end);
  }
  return marked + text.slice(done);
}

function markUnlessItFits(number: string): string {
  const value = Number(number);
  const fits = Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return fits ? number : `"${MARK}${number}"`;
}

/** Behind the quote that ends the text that begins at `start`. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
  return text.length;
}
