/** Tokens of one call of a model. */
export interface Usage {
  readonly input: number;
  readonly output: number;
}
