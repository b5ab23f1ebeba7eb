// `npm run eval:cache [-- FILE.tsv …]`: how often the language part of the semantic cache reuses an answer, rightly and
// wrongly, on the sets of test/data/cache and on others named by path. Without paths it writes docs/benchmarks/cache.md.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled, root } from '../scripts/workspace.mjs';
import { categoryTable, pairTable, streamTable, writtenReport } from './eval-cache-report.mjs';
import { budgetTable, evaluateStream, learnedTable } from './eval-cache-streams.mjs';

const { positionals } = parseArgs({ allowPositionals: true });
ensureInstalled();
const { format } = await import('prettier');

// From the sources: nothing that is evaluated here needs the application.
const load = createRequire(join(root, 'package.json'));
load('./test/support/run-typescript.cjs');
const { guard } = load('./libs/cache/src/language/guard.ts');
const { canonicalKey } = load('./libs/cache/src/language/canonical-key.ts');
const { refusingRule } = load('./libs/cache/src/language/admission-rules.ts');
const { Experience } = load('./libs/cache/src/trust/experience.ts');
const { BuiltinEmbedder } = load('./libs/cache/src/vectors/builtin-embedder.ts');

const SETS = join(root, 'test/data/cache');
const embedder = new BuiltinEmbedder();
const isAdmitted = text => refusingRule({ messages: [] }, text) === null;

/** A pair with all that is decided of it. `heldOut`: its row was not looked at while the rules were written. */
async function judged([, a, b, label, category = ''], row) {
  const [left, right] = await embedder.embed([a, b]);
  return {
    isSame: label === '1',
    category,
    heldOut: row % 2 === 1,
    admitted: isAdmitted(a) && isAdmitted(b),
    strict: guard(a, b, 'strict').serve,
    balanced: guard(a, b, 'balanced').serve,
    canonical: canonicalKey(a) !== null && canonicalKey(a) === canonicalKey(b),
    cosine: left.reduce((sum, value, at) => sum + value * right[at], 0),
  };
}

/** Every question is answered from the first earlier one with its canonical key, if any. */
function streamed(rows) {
  const intents = new Map();
  let hits = 0;
  let right = 0;
  for (const [, text, intent] of rows) {
    const key = isAdmitted(text) ? canonicalKey(text) : null;
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
        .map(name => join(SETS, name));
const pairs = [];
const streams = [];
const evaluated = [];
for (const file of files) {
  const name = basename(file, '.tsv');
  const rows = rowsOf(file);
  if (/\.intent/.test(name)) {
    streams.push({ name, ...streamed(rows) });
    evaluated.push(...(await evaluateStream(name, rows, { embedder, guard, Experience })));
  } else pairs.push({ name, pairs: await Promise.all(rows.map(judged)) });
}

const tables = {
  pairs: pairTable(pairs, embedder.similarityThreshold),
  categories: categoryTable(pairs),
  streams: streamTable(streams),
  budgets: budgetTable(evaluated),
  learned: learnedTable(evaluated),
};
console.log(Object.values(tables).filter(Boolean).join('\n\n'));
if (positionals.length === 0) {
  mkdirSync(join(root, 'docs/benchmarks'), { recursive: true });
  const report = await format(writtenReport(tables, embedder.similarityThreshold), { parser: 'markdown' });
  writeFileSync(join(root, 'docs/benchmarks/cache.md'), report);
}
