// `npm run eval:cache [-- FILE.tsv …] [-- --also FILE.tsv …]`: how often the language part of the semantic cache reuses an
// answer, rightly and wrongly. FILEs alone are evaluated and printed; without them the sets of test/data/cache are, with
// those named by --also, and docs/benchmarks/cache.md and its picture are written.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { commandLine, ensureInstalled, root } from '../scripts/workspace.mjs';
import { categoryTable, pairTable, streamTable, writtenReport } from './eval-cache-report.mjs';
import { retrievalRows, retrieved } from './eval-cache-retrieval.mjs';
import { areaTable, judgeTable, panelsOf, publishedTable, retrievalTable } from './eval-cache-scores.mjs';
import { budgetTable, evaluateStream, learnedTable } from './eval-cache-streams.mjs';
import { embeddingCost, targetTable } from './eval-cache-targets.mjs';

const { positionals, values } = commandLine('npm run eval:cache -- [FILE.tsv …] [--also FILE.tsv …]', {
  allowPositionals: true,
  options: { also: { type: 'string', multiple: true, default: [] } },
});
ensureInstalled();
const { format } = await import('prettier');

// From the sources: nothing that is evaluated here needs the application.
const load = createRequire(join(root, 'package.json'));
load('./test/support/run-typescript.cjs');
const { guard, pairKey } = load('./libs/cache/src/language/guard.ts');
const { judge, similarityRules } = load('./libs/cache/src/similarity.ts');
const { canonicalKey } = load('./libs/cache/src/language/canonical-key.ts');
const { refusingRule } = load('./libs/cache/src/language/admission-rules.ts');
const { Experience } = load('./libs/cache/src/trust/experience.ts');
const { BuiltinEmbedder } = load('./libs/cache/src/vectors/builtin-embedder.ts');
const { lineCharts } = load('./apps/lab/src/report/svg.ts');

const SETS = join(root, 'test/data/cache');
const embedder = new BuiltinEmbedder();
const isAdmitted = text => refusingRule({ messages: [] }, text) === null;
const keyOf = text => (isAdmitted(text) ? canonicalKey(text) : null);

const NO_SETTINGS = { guard: null, threshold: null };
const rules = similarityRules(NO_SETTINGS, null, embedder);
/** As for any model behind an endpoint, at a threshold of its own. */
const endpointRules = threshold =>
  similarityRules(NO_SETTINGS, null, {
    similarityThreshold: threshold,
    candidateThreshold: 0,
    defaultGuard: 'balanced',
  });
const ANY_SCORE = endpointRules(0);

/** The cosine that was published with a pair, in the last column. */
function publishedScore(columns) {
  const last = columns.length > 4 ? Number(columns.at(-1)) : NaN;
  return Number.isFinite(last) && columns.at(-1) !== '' ? last : null;
}

/** A pair with all that is decided of it. `heldOut`: its row was not looked at while the rules were written. */
async function judged(columns, row) {
  const [, a, b, label, category = ''] = columns;
  const [left, right] = await embedder.embed([a, b]);
  const cosine = left.reduce((sum, value, at) => sum + value * right[at], 0);
  const published = publishedScore(columns);
  const admitted = isAdmitted(a) && isAdmitted(b);
  const isSame = label === '1';
  const mayServe = (score, some) => judge(a, { id: '', text: b, score }, some).serve;
  const endorsed = guard(a, b, 'balanced').serve || mayServe(1, ANY_SCORE);
  const approved = new Set(isSame ? [pairKey(a, b)] : []);
  return {
    isSame,
    category,
    heldOut: row % 2 === 1,
    admitted,
    strict: guard(a, b, 'strict').serve,
    balanced: guard(a, b, 'balanced').serve,
    canonical: canonicalKey(a) !== null && canonicalKey(a) === canonicalKey(b),
    cosine,
    published,
    balancedAt: threshold => published !== null && published >= threshold && endorsed,
    servedAtOnce: mayServe(cosine, rules),
    servedOnceJudged: cosine >= rules.least && guard(a, b, 'strict', approved).serve,
  };
}

/** Every question is answered from the first earlier one with its canonical key, if any. */
function streamed(rows) {
  const intents = new Map();
  let hits = 0;
  let right = 0;
  for (const [, text, intent] of rows) {
    const key = keyOf(text);
    if (key === null) continue;
    const known = intents.get(key);
    if (known === undefined) intents.set(key, intent);
    else {
      hits++;
      if (known === intent) right++;
    }
  }
  return { requests: rows.length, hits, right };
}

const rowsOf = file =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map(line => line.split('\t'));

const files =
  positionals.length > 0
    ? positionals
    : readdirSync(SETS)
        .filter(name => name.endsWith('.tsv'))
        .sort()
        .map(name => join(SETS, name))
        .concat(values.also);
const pairs = [];
const streams = [];
const evaluated = [];
const retrieval = [];
for (const file of files) {
  const name = basename(file, '.tsv');
  const rows = rowsOf(file);
  if (/\.intent/.test(name)) {
    streams.push({ name, ...streamed(rows) });
    evaluated.push(...(await evaluateStream(name, rows, { embedder, guard, keyOf, Experience })));
    continue;
  }
  const set = { name, pairs: await Promise.all(rows.map(judged)) };
  pairs.push(set);
  if (set.pairs.every(({ isSame }) => isSame)) {
    retrieval.push(...retrievalRows(name, await retrieved(rows, { embedder, Experience })));
  }
}
const cost = await embeddingCost(
  rowsOf(join(SETS, 'en-banking77-test.intent.tsv')).map(([, text]) => text),
  embedder,
);

const tables = {
  targets: targetTable({ sets: pairs, streams: evaluated, retrieval, cost }),
  pairs: pairTable(pairs, embedder),
  areas: areaTable(pairs),
  published: publishedTable(pairs),
  judged: judgeTable(pairs),
  retrieval: retrievalTable(retrieval),
  categories: categoryTable(pairs),
  streams: streamTable(streams),
  budgets: budgetTable(evaluated),
  learned: learnedTable(evaluated),
};
console.log(Object.values(tables).filter(Boolean).join('\n\n'));
if (positionals.length === 0) {
  const folder = join(root, 'docs/benchmarks');
  mkdirSync(folder, { recursive: true });
  const report = await format(writtenReport(tables, embedder.similarityThreshold), { parser: 'markdown' });
  writeFileSync(join(folder, 'cache.md'), report);
  const axes = { x: 'recall', y: 'precision', most: 1 };
  writeFileSync(join(folder, 'cache.svg'), lineCharts('Precision over recall', panelsOf(pairs), axes));
}
