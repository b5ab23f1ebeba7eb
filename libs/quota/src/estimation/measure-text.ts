import type { InputMeasure } from './input-measure';

/*
 * Tokenizers of today split text where its kind of character changes and then merge what is frequent. So the cost of
 * a character is a matter of its kind and of its place in a run of that kind: a word costs one token and its letters
 * nothing until it is long, three digits share a token, the space before a word is free. The costs were fitted to
 * o200k on English, Chinese, code and JSON.
 */
interface Kind {
  readonly group: 'words' | 'symbols' | 'cjk' | 'scripts';
  /** Tokens of the first, second… character of a run; the last entry holds for every further one. */
  readonly costs: readonly number[];
}

const WORD = [1, 0, 0, 0, 0, 0, 0.1];
const LOWER = 0;
const UPPER = 1;
const ACCENTED = 2;
const DIGIT = 3;
const SPACE = 4;
const LINE_BREAK = 5;
const SIGN = 6;
const HAN = 7;
const CJK_SIGN = 8;
const KANA = 9;
const HANGUL = 10;
const SCRIPT = 11;
const EMOJI = 12;

/** In the order of the constants above. */
const KINDS: readonly Kind[] = [
  { group: 'words', costs: WORD },
  { group: 'words', costs: WORD },
  { group: 'words', costs: [1, 0.5] },
  { group: 'symbols', costs: [1.2, 0, 0, 0.33] },
  { group: 'symbols', costs: [0, 0.9, 0.01] },
  { group: 'symbols', costs: [0.6, 0] },
  { group: 'symbols', costs: [0.65, 0.27] },
  { group: 'cjk', costs: [0.72] },
  { group: 'cjk', costs: [0.9] },
  { group: 'cjk', costs: [0.6] },
  { group: 'cjk', costs: [0.6] },
  { group: 'scripts', costs: [0.4] },
  { group: 'scripts', costs: [0.8] },
];

/*
 * The same as a state machine: a state is a kind and a place in its run, so reading a character is one step in a table
 * and one count, and the costs are multiplied in at the end.
 */
const PLACES = Math.max(...KINDS.map(kind => kind.costs.length));
const STATES = KINDS.length * PLACES;
/** Before the first character. */
const START = STATES;
const NEXT = Uint8Array.from({ length: (START + 1) * KINDS.length }, (_, index) =>
  stateAfter(Math.floor(index / KINDS.length), index % KINDS.length),
);

function stateAfter(state: number, kind: number): number {
  const place = state % PLACES;
  return kind * PLACES + (continues(Math.floor(state / PLACES), kind) ? Math.min(place + 1, PLACES - 1) : 0);
}

/** Whether a character belongs to the run before it; a capital after a small letter starts a word, as in camelCase. */
function continues(before: number, kind: number): boolean {
  return before === kind || (before <= ACCENTED && kind <= ACCENTED && !(before === LOWER && kind === UPPER));
}

/** Adds the tokens and bytes of a text. */
export function measureText(text: string, measure: InputMeasure): void {
  const visits = new Uint32Array(STATES);
  let state = START;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const kind = code < 0x80 ? (ASCII[code] ?? SIGN) : kindOf(code);
    state = NEXT[state * KINDS.length + kind] ?? 0;
    visits[state] = (visits[state] ?? 0) + 1;
  }
  KINDS.forEach(({ group, costs }, kind) => measure.add(group, tokensOf(costs, visits, kind * PLACES)));
  measure.textBytes += Buffer.byteLength(text);
}

function tokensOf(costs: readonly number[], visits: Uint32Array, offset: number): number {
  let tokens = 0;
  for (let place = 0; place < PLACES; place++)
    tokens += (visits[offset + place] ?? 0) * (costs[place] ?? costs.at(-1) ?? 0);
  return tokens;
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}

const ASCII = Uint8Array.from({ length: 0x80 }, (_, code) => asciiKindOf(String.fromCharCode(code)));

function asciiKindOf(character: string): number {
  if (character >= 'a' && character <= 'z') return LOWER;
  if (character >= 'A' && character <= 'Z') return UPPER;
  if (character >= '0' && character <= '9') return DIGIT;
  if (character === ' ' || character === '\t') return SPACE;
  return character === '\n' || character === '\r' ? LINE_BREAK : SIGN;
}

/** The kind of a UTF-16 unit beyond ASCII; what lies outside the basic plane is mostly emoji. */
function kindOf(code: number): number {
  if (code < 0xc0) return SIGN;
  if (code < 0x250) return ACCENTED;
  if (code >= 0x4e00 && code <= 0x9fff) return HAN;
  if (code < 0x2000) return SCRIPT;
  if (code < 0x2600) return SIGN;
  if (code < 0x2800) return EMOJI;
  if (code < 0x3040) return CJK_SIGN;
  if (code < 0x3100) return KANA;
  if (code >= 0x3400 && code < 0x4e00) return HAN;
  if (code >= 0xac00 && code < 0xd7b0) return HANGUL;
  if (isSurrogate(code)) return EMOJI;
  return code >= 0xff00 ? CJK_SIGN : SCRIPT;
}
