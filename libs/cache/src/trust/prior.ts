/**
 * What a verifier believes before any judgement, a weight for each of `pairFeatures`: the lead over the runner-up, by
 * score, words and pieces of words, tells nearly all. Learned by `bench/train-verifier.mjs` from half of GPTCache's mock
 * data. It orders candidates; none is reused by it before judgements say where the boundary is.
 */
export const PRIOR: readonly number[] = [
  -0.17, -0.06, 0.08, 0.96, 0, 0, -0.09, 0, 0, -0.01, -0.09, -0.11, 0.09, 0.26, 0.02, -0.01, -0.1, -0.09, 0.01, -0.16,
  0.11, 0.5, 0.15, -0.01, -0.02, 0, -0.74, -0.01, 1.05, 1.12,
];
