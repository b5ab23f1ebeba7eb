const IDEOGRAPH = '[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}]';
const IS_IDEOGRAPH = new RegExp(`^${IDEOGRAPH}`, 'u');
const IS_LETTER = /^[\p{L}\p{N}]/u;

/** What a character is to the words of a text; 0: not known yet. */
const BETWEEN = 1;
const LETTER = 2;
const IDEOGRAPHIC = 3;

/** By code point of the basic plane: patterns are asked once for each. */
const KINDS = new Uint8Array(0x10000);

/** Hears of the words of a text in order; `isIdeograph`: one character of Chinese or Japanese. */
type WordListener = (from: number, to: number, isIdeograph: boolean) => void;

/** A text as its words are compared: in small letters, in one of the ways in which it can be written. */
export function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** Finds the words of a folded text, without what is between them; Chinese and Japanese by the character. */
export function eachWord(text: string, found: WordListener): void {
  let from = -1;
  let size = 1;
  for (let at = 0; at < text.length; at += size) {
    const code = text.codePointAt(at) ?? 0;
    size = code > 0xffff ? 2 : 1;
    const kind = KINDS[code] || kindOf(code);
    if (kind === LETTER) {
      if (from < 0) from = at;
      continue;
    }
    if (from >= 0) found(from, at, false);
    from = -1;
    if (kind === IDEOGRAPHIC) found(at, at + size, true);
  }
  if (from >= 0) found(from, text.length, false);
}

/** The words of a text in small letters. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  const small = folded(text);
  eachWord(small, (from, to) => words.push(small.slice(from, to)));
  return words;
}

function kindOf(code: number): number {
  const character = String.fromCodePoint(code);
  const kind = IS_IDEOGRAPH.test(character) ? IDEOGRAPHIC : IS_LETTER.test(character) ? LETTER : BETWEEN;
  // Beyond the basic plane there is no place for it.
  KINDS[code] = kind;
  return kind;
}
