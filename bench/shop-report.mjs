import { decimal, whole } from './statistics.mjs';

const TIERS = ['exact', 'canonical', 'semantic', 'coalesced'];

const percent = (part, all) => (all === 0 ? '–' : `${decimal((100 * part) / all, 1)} %`);
const share = (part, all) => `${whole(part)} (${percent(part, all)})`;
const table = (head, rows) =>
  [head, head.map((_, index) => (index === 0 ? ':--' : '--:')), ...rows]
    .map(cells => `| ${cells.join(' | ')} |`)
    .join('\n');

const isTrap = ({ intent }) => intent.startsWith('trap/');
const isEnglish = ({ intent }) => intent.endsWith('/en');
const isServed = ({ tier }) => tier !== null;
const isWrong = outcome => isServed(outcome) && !outcome.right;

/** The report of a day that was lived once or several times, as Markdown. */
export function writtenDay({ products, seeds, calls }, days) {
  const traps = calls.filter(isTrap).length;
  const names = days.map(({ judgeError }) =>
    judgeError === null ? 'as shipped' : `with a judge who errs in ${percent(judgeError, 1)}`,
  );
  return `# A shop's day in miniature

Written by \`npm run shop-day\`. The built program, with the built-in embedder and index and no Redis, in front of the
simulator. ${whole(products)} products, half of them with English visitors and half with Chinese ones; for each product
five questions are seeded by \`POST /admin/seed\` (${whole(seeds.length)}). Then ${whole(calls.length)} calls, each with the
product in \`x-spillway-scope\`: none in the words of a seed, every third typed carelessly, some products asked about more
than others. ${whole(traps)} of the calls are traps: they look like a seeded question and need another answer. What a
model had to answer is kept, so that the same words are found later.

An answer is wrong unless it was made for a question of the same meaning about the same product. The questions are in
\`bench/shop-day.yaml\`; whoever wrote them knew the rules of the guard, and a
hit rate depends on how people word things: what counts here is that other questions get other answers.

${table(['', ...names], figures(days))}

“In new words”: nobody had asked this in these words on the page of this product before. The judge knows what the
questions mean and never sees an answer; pairs are judged beside the calls, ${whole(calls.length)} calls being few to
learn from.

${days.map((day, index) => wrongOnes(names[index], day)).join('\n\n')}
`;
}

function figures(days) {
  const row = (name, read) => [name, ...days.map(day => read(day.outcomes, day))];
  const within = (name, belongs) =>
    row(name, outcomes => {
      const all = outcomes.filter(belongs);
      return share(all.filter(isServed).length, all.length);
    });
  const isNewQuestion = ({ isNew, question }) => isNew && !isTrap(question);
  return [
    row('calls', outcomes => whole(outcomes.length)),
    within('**answered from the cache**', () => true),
    ...TIERS.map(tier =>
      row(`– ${tier}`, outcomes => share(outcomes.filter(one => one.tier === tier).length, outcomes.length)),
    ),
    within('of seeded questions', ({ question }) => !isTrap(question)),
    within('– in new words, English', one => isNewQuestion(one) && isEnglish(one.question)),
    within('– in new words, Chinese', one => isNewQuestion(one) && !isEnglish(one.question)),
    row('**wrong reuses**, of all calls', outcomes => share(outcomes.filter(isWrong).length, outcomes.length)),
    row('– of what was answered from the cache', outcomes => {
      const served = outcomes.filter(isServed);
      return percent(served.filter(isWrong).length, served.length);
    }),
    row('– of the traps in new words', outcomes => {
      const traps = outcomes.filter(({ question, isNew }) => isNew && isTrap(question));
      return share(traps.filter(isWrong).length, traps.length);
    }),
    row('**calls of the model saved**', (outcomes, { modelCalls }) => whole(outcomes.length - modelCalls)),
    row('pairs judged', (_, { judged }) => whole(judged)),
    row('slowest call, ms', outcomes => whole(Math.max(...outcomes.map(({ ms }) => ms)))),
    row('seconds, seeding included', (_, { seconds }) => whole(seconds)),
  ];
}

/** The same mistake may be made on the pages of many products: it is listed once. */
function wrongOnes(name, { outcomes }) {
  const times = new Map();
  for (const { question, madeFor, tier } of outcomes.filter(isWrong)) {
    const mistake = JSON.stringify([question.text, madeFor ?? 'unknown', tier]);
    times.set(mistake, (times.get(mistake) ?? 0) + 1);
  }
  const heading = `## Wrong reuses, ${name}`;
  if (times.size === 0) return `${heading}\n\nNone.`;
  const rows = [...times]
    .sort(([, a], [, b]) => b - a)
    .map(([mistake, count]) => [...JSON.parse(mistake).map(text => text.replaceAll('|', '\\|')), count]);
  return `${heading}\n\n${table(['asked', 'answered as', 'tier', 'times'], rows)}`;
}
