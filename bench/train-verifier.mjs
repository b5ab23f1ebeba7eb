// `node bench/train-verifier.mjs`: the weights that a route's verifier starts with (libs/cache/src/trust/prior.ts), learned
// from the even rows of GPTCache's mock data (MIT): which of the eight nearest of 999 texts is the one that was reworded.
// Printed, not written: they are copied by hand, with a look at what docs/benchmarks/cache.md says then.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ensureInstalled, root } from '../scripts/workspace.mjs';
import { retrievalRows, retrieved } from './eval-cache-retrieval.mjs';

ensureInstalled();
const load = createRequire(join(root, 'package.json'));
load('./test/support/run-typescript.cjs');
const { Experience } = load('./libs/cache/src/trust/experience.ts');
const { BuiltinEmbedder } = load('./libs/cache/src/vectors/builtin-embedder.ts');

/** Features that tell of groups, of which nothing is known here. */
const OF_GROUPS = new Set([4, 5, 7, 8]);
const ROUNDS = 300;
const RATE = 0.3;
const DECAY = 1e-3;

const rows = readFileSync(join(root, 'test/data/cache/en-gptcache-mock-999.tsv'), 'utf8')
  .trim()
  .split('\n')
  .map(line => line.split('\t'));
const calls = await retrieved(rows, { embedder: new BuiltinEmbedder(), Experience });
const examples = calls.filter((_, at) => at % 2 === 0).flat();
const weights = new Float64Array(examples[0].features.length);
const squares = new Float64Array(weights.length).fill(1e-2);
for (let round = 0; round < ROUNDS; round++) {
  const gradient = new Float64Array(weights.length);
  for (const { features, isRight } of examples) {
    const sum = features.reduce((total, value, at) => total + value * weights[at], 0);
    const error = 1 / (1 + Math.exp(-sum)) - (isRight ? 1 : 0);
    features.forEach((value, at) => (gradient[at] += (error * value) / examples.length));
  }
  for (let at = 0; at < weights.length; at++) {
    if (OF_GROUPS.has(at)) continue;
    const slope = gradient[at] + DECAY * weights[at];
    squares[at] += slope * slope;
    weights[at] -= (RATE * slope) / Math.sqrt(squares[at]);
  }
}
console.log([...weights].map(weight => weight.toFixed(2)).join(', '));
const scored = calls.map(all =>
  all.map(one => ({ ...one, probability: one.features.reduce((total, value, at) => total + value * weights[at], 0) })),
);
console.table(retrievalRows('gptcache', scored));
