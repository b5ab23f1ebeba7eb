import { withPlainNumbers } from './numbers';
import { simplified } from './traditional';

const PUNCTUATION: Readonly<Record<string, string>> = {
  '’': "'",
  '‘': "'",
  '`': "'",
  '´': "'",
  '“': '"',
  '”': '"',
  '「': '"',
  '」': '"',
  '《': '"',
  '》': '"',
  '–': '-',
  '—': '-',
  '‐': '-',
  '‑': '-',
  '−': '-',
  '。': '.',
  '、': ',',
  '…': '.',
  '×': '*',
  '÷': '/',
};
const VARIANT = new RegExp(`[${Object.keys(PUNCTUATION).join('')}]`, 'g');

/** In the order in which they apply. */
const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bcan't\b|\bcannot\b|\bcant\b/g, 'can not'],
  [/\bwon't\b|\bwont\b/g, 'will not'],
  [/\bshan't\b/g, 'shall not'],
  [/n't\b/g, ' not'],
  [/\b(do|does|did|is|are|was|were|has|have|could|should|would)nt\b/g, '$1 not'],
  [/\b(what|where|who|when|how|why|it|that|there|here|he|she|which)'s\b|\b(what|where|who|when)s\b/g, '$1$2 is'],
  [/\bi'?m\b/g, 'i am'],
  [/'re\b/g, ' are'],
  [/'ve\b/g, ' have'],
  [/'ll\b/g, ' will'],
  [/\b(i|you|we|they|he|she|it|who|what|how)'d\b/g, '$1 would'],
  [/\blet's\b/g, 'let us'],
  [/'s\b|(?<=s)'(?=\s|$)/g, ''],
];

/** Frequent slips and short forms. */
const TYPING: readonly (readonly [RegExp, string])[] = [
  [/\bpls\b|\bplz\b/g, 'please'],
  [/\bu\b/g, 'you'],
  [/\bur\b/g, 'your'],
  [/\br\b(?= (?:you|there|they|we)\b)/g, 'are'],
  [/\be-mail/g, 'email'],
  [/\bwi-fi\b/g, 'wifi'],
  [/\bo'clock\b/g, ''],
  [/帐(?=号|户|单)/g, '账'],
  [/登陆/g, '登录'],
  [/优惠卷/g, '优惠券'],
  [/麽/g, '么'],
  // 支不支持 asks whether it is supported.
  [/(?!好)(\p{Script=Han})不\1/gu, '是否$1'],
];

/** Names in capitals that are other words in small letters. */
const CAPITALS: readonly (readonly [RegExp, string])[] = [
  [/\bU\.?S\.?(?:A\.?)?(?![a-z])/g, 'usa '],
  [/\bU\.?K\.?(?![a-z])/g, 'uk '],
  [/\bIT\b/g, 'infotech '],
  [/(?<=\S )A\b(?!')/g, 'letter_a'],
  [/\bWHO\b/g, 'w-h-o '],
  [/\bAIDS\b/g, 'hiv-aids '],
];

/**
 * The text without what typing alone makes of it: compatibility forms, case, white space, punctuation variants, short
 * forms, traditional characters, and the ways to write a number or an amount.
 */
export function normalise(text: string): string {
  let plain = text.normalize('NFKC').replace(VARIANT, character => PUNCTUATION[character] ?? character);
  // A text all in capitals says nothing by them.
  if (/[a-z]/.test(plain)) plain = replaceAll(plain, CAPITALS);
  plain = simplified(plain.toLowerCase());
  if (/[a-z]/.test(plain)) plain = replaceAll(plain, CONTRACTIONS);
  return withPlainNumbers(replaceAll(plain, TYPING)).replace(/\s+/g, ' ').trim();
}

function replaceAll(text: string, replacements: readonly (readonly [RegExp, string])[]): string {
  return replacements.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}
