// What is seeded and asked on the day of the shop; the same for the same seed.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../scripts/workspace.mjs';

const LANGUAGES = ['en', 'zh'];
const TRAPS = 0.2;
/** Share of the questions that are typed carelessly. */
const NOISE = 0.3;
const SEED = 20261130;

/**
 * The questions of all products: each belongs to a range, has visitors of one language, and five seeded questions.
 * @returns {Promise<{ products: number, seeds: object[], calls: object[] }>}
 */
export async function shopQuestions(calls) {
  // What needs installed packages is loaded only now.
  const { parse } = await import('yaml');
  const load = createRequire(join(root, 'package.json'));
  load('./test/support/run-typescript.cjs');
  const { QuestionPool } = load('./apps/lab/src/workload/question-pool.ts');
  const { seededRandom } = load('./apps/simulator/src/random.ts');
  const file = parse(readFileSync(new URL('./shop-day.yaml', import.meta.url), 'utf8'));
  const shelves = Object.entries(file.ranges).flatMap(([range, content]) =>
    LANGUAGES.map(language => shelfOf(file, { range, language, content, QuestionPool })),
  );
  const random = seededRandom(SEED);
  const drawn = Array.from({ length: calls }, () => {
    const shelf = shelves[Math.floor(random() * shelves.length)];
    return random() < TRAPS ? shelf.trap(random) : shelf.question(random);
  });
  const products = shelves.reduce((sum, shelf) => sum + shelf.products, 0);
  return { products, seeds: shelves.flatMap(({ seeds }) => seeds), calls: drawn };
}

/** The products of a range that are sold in one language. */
function shelfOf({ brands, system }, { range, language, content, QuestionPool }) {
  const { nouns, seeded, traps } = content;
  const kinds = { seeded: { system, typed: true, intents: seeded }, trap: { system, typed: true, intents: traps } };
  const products = brands.length * nouns.length;
  const popularity = { products: 0.8, intents: 0, texts: 0 };
  const pool = new QuestionPool({ brands, nouns, chinese: language === 'zh' ? 1 : 0, kinds }, products, {
    popularity,
    noise: NOISE,
  });
  const at = question => ({ ...question, scope: `${range}-${language}-${question.scope}` });
  const seeds = [...pool.common(1, seeded.length, 1)].filter(
    ({ intent }) => intent.startsWith('seeded/') && intent.endsWith(`/${language}`),
  );
  const usual = new Set(seeds.map(({ text }) => text));
  return {
    products,
    seeds: seeds.map(at),
    trap: random => at(pool.draw('trap', random)),
    question: random => {
      let question = pool.draw('seeded', random);
      while (usual.has(question.text)) question = pool.draw('seeded', random);
      return at(question);
    },
  };
}
