// `npm run shop-day [-- --calls 5000]`: the day of a shop in miniature. Seeds five questions for each of 200 products,
// has them asked in other words, with traps among them, and tells what the cache answered, and which answers were
// wrong; a second time with a judge that errs now and then. A day of 5 000 calls writes docs/benchmarks/shop-day.md.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, ensureBuilt, ensureInstalled, root } from '../scripts/workspace.mjs';

const WHOLE_DAY = 5_000;
const JUDGE_ERROR = 0.05;

const { values } = commandLine('npm run shop-day -- [--calls N]', {
  options: { calls: { type: 'string', default: String(WHOLE_DAY) } },
});
const calls = Number(values.calls);
ensureInstalled();
ensureBuilt();

const [{ Scene }, { shopQuestions }, { liveDay }, { startJudge }, { writtenDay }, { format }] = await Promise.all([
  import('./scene.mjs'),
  import('./shop-questions.mjs'),
  import('./shop-visitors.mjs'),
  import('./shop-judge.mjs'),
  import('./shop-report.mjs'),
  import('prettier'),
]);

const day = await shopQuestions(calls);
const days = [];
for (const judgeError of [null, JUDGE_ERROR]) {
  console.error(judgeError === null ? 'A day without a judge …' : 'A day with a judge …');
  days.push({ judgeError, ...(await played(judgeError)) });
}
const report = await format(writtenDay(day, days), { parser: 'markdown' });
console.log(report);
if (calls === WHOLE_DAY) {
  mkdirSync(join(root, 'docs/benchmarks'), { recursive: true });
  writeFileSync(join(root, 'docs/benchmarks/shop-day.md'), report);
}

async function played(judgeError) {
  const scene = new Scene();
  const judge = judgeError === null ? null : await startJudge([...day.seeds, ...day.calls], judgeError);
  try {
    const model = await scene.simulator({ assistant: { latency: { first_token_ms: 0, tokens_per_s: 0 } } });
    const spillway = await scene.spillway({ configuration: configuration(model, judge) });
    const startedAt = performance.now();
    const result = await liveDay(spillway, model, day);
    return { ...result, judged: judge?.asked() ?? 0, seconds: (performance.now() - startedAt) / 1000 };
  } finally {
    await scene.close();
    await judge?.close();
  }
}

/** As little as it takes: the caches are as they are shipped. The judge is asked by the day, which here takes a minute. */
function configuration(model, judge) {
  return {
    providers: {
      simulator: { base_url: `${model.url}/v1` },
      ...(judge === null ? {} : { judge: { base_url: `${judge.url}/v1` } }),
    },
    models: { assistant: { provider: 'simulator' }, ...(judge === null ? {} : { judge: { provider: 'judge' } }) },
    routes: { shop: { chain: ['assistant'] } },
    ...(judge === null ? {} : { cache: { judge: { model: 'judge', per_minute: 100_000 } } }),
  };
}
