/** What input tokens are made of: tokenizers differ by class, so each is corrected by itself. */
export const INPUT_CLASSES = ['words', 'symbols', 'cjk', 'scripts', 'media', 'frame'] as const;
type InputClass = (typeof INPUT_CLASSES)[number];

/** Texts have seldom fewer tokens than this many bytes each; a guess below it would invite abuse. */
const BYTES_PER_TOKEN_AT_MOST = 8;

/** An input taken apart: uncorrected tokens by class, and the bytes of its text. */
export class InputMeasure {
  /** In the order of INPUT_CLASSES. */
  readonly tokens = new Float64Array(INPUT_CLASSES.length);
  textBytes = 0;

  add(inputClass: InputClass, tokens: number): void {
    const index = INPUT_CLASSES.indexOf(inputClass);
    this.tokens[index] = (this.tokens[index] ?? 0) + tokens;
  }

  /** The tokens under one factor a class, in whole tokens, never below 1 nor below an eighth of the text's bytes. */
  total(factors?: Float64Array): number {
    let sum = 0;
    for (let index = 0; index < this.tokens.length; index++) sum += (this.tokens[index] ?? 0) * (factors?.[index] ?? 1);
    return Math.ceil(Math.max(1, this.textBytes / BYTES_PER_TOKEN_AT_MOST, sum));
  }
}
