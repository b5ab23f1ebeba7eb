const IDEOGRAPH = '[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}]';
const WORDS = new RegExp(`${IDEOGRAPH}|(?:(?!${IDEOGRAPH})[\\p{L}\\p{N}])+`, 'gu');
const IS_IDEOGRAPH = new RegExp(`^${IDEOGRAPH}`, 'u');
/** There is none below: spares most words the pattern. */
const FIRST_IDEOGRAPH = 0x2e80;

/** The words of a text in small letters, without what is between them; Chinese and Japanese by the character. */
export function wordsOf(text: string): readonly string[] {
  return text.normalize('NFKC').toLowerCase().match(WORDS) ?? [];
}

/** Whether a word is one character of Chinese or Japanese. */
export function isIdeograph(word: string): boolean {
  return word.charCodeAt(0) >= FIRST_IDEOGRAPH && IS_IDEOGRAPH.test(word);
}
