// What the semantic cache is to reach, and what it reached.
import { reach } from './eval-cache-scores.mjs';

const TEXTS = 2_000;
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n');

/** Microseconds a short text, the best of several rounds: other work of the machine only adds. */
export async function embeddingCost(texts, embedder) {
  const some = Array.from({ length: TEXTS }, (_, at) => texts[at % texts.length]);
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    await embedder.embed(some);
    best = Math.min(best, ((performance.now() - start) * 1000) / some.length);
  }
  return best;
}

const row = (what, wanted, value, isReached) => [what, wanted, value, isReached ? 'reached' : '**missed**'];
const share = (some, test) => some.filter(test).length / some.length;
const percent = part => `${(100 * part).toFixed(1)} %`;

function pairTargets({ name, pairs }) {
  const traps = pairs.filter(({ isSame }) => !isSame);
  const same = pairs.filter(({ isSame }) => isSame);
  if (/qqp/.test(name)) {
    const { served, right, same: all } = reach(pairs, pair => pair.balancedAt(0.86));
    const [precision, recall] = [right / served, right / all];
    const value = `${precision.toFixed(3)} at ${recall.toFixed(3)}`;
    const what = `${name}: published scores from 0.86 on, with guards: precision at recall`;
    return [row(what, '≥ 0.93 at ≥ 0.42', value, precision >= 0.93 && recall >= 0.42)];
  }
  if (!/traps|everyday/.test(name)) return [];
  const [strict, balanced] = [share(traps, pair => pair.strict), share(traps, pair => pair.balanced)];
  const [atOnce, judged] = [share(same, pair => pair.servedAtOnce), share(same, pair => pair.servedOnceJudged)];
  return [
    row(`${name}: traps reused by \`strict\``, '≤ 1 %', percent(strict), strict <= 0.01),
    row(`${name}: traps reused by \`balanced\``, '≤ 4 %', percent(balanced), balanced <= 0.04),
    row(`${name}: equal pairs served at once`, '≥ 15 %', percent(atOnce), atOnce >= 0.15),
    row(`${name}: after one round of the judge`, '≥ 50 %', percent(judged), judged >= 0.5),
  ];
}

function streamTargets({ name, order, static: deciders, learned }) {
  const [unlearned, after] = /banking/.test(name) ? [0.13, 0.28] : [0.25, 0.4];
  const best = Math.max(...Object.values(deciders).map(budgets => budgets.find(({ budget }) => budget === 0.01).rate));
  const isReached = ({ hits, calls, right }) => hits / calls >= after && right / hits >= 0.96;
  const { hits, calls, right, budget } = learned.find(isReached) ?? learned[0];
  return [
    row(
      `${name}, ${order}: hits at ≤ 1 % errors, best decider`,
      `≥ ${percent(unlearned)}`,
      percent(best),
      best >= unlearned,
    ),
    row(
      `${name}, ${order}: hits after 5 000 judged, precision ≥ 96 %`,
      `≥ ${percent(after)}`,
      `${percent(hits / calls)}, ${percent(right / hits)} right (budget ${budget})`,
      learned.some(isReached),
    ),
  ];
}

export function targetTable({ sets, streams, retrieval, cost }) {
  const rows = [
    ...retrieval
      .filter(({ half, decider }) => half === 'all' && decider.startsWith('verifier'))
      .map(({ name, right, wrong }) =>
        row(`${name}: right and wrong of all`, '≥ 880 and ≤ 50', `${right} and ${wrong}`, right >= 880 && wrong <= 50),
      ),
    ...sets.flatMap(pairTargets),
    ...streams.filter(({ name }) => /banking77|clinc150/.test(name)).flatMap(streamTargets),
    row('builtin embedding of a short text', '≤ 100 µs', `${cost.toFixed(0)} µs`, cost <= 100),
  ];
  return table(['what', 'to reach', 'measured', ''], rows);
}
