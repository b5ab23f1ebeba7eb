// Streams of questions with known intents: how many the semantic tier would answer, rightly and wrongly, by score alone,
// with the guards, and after it has learned from judgements.

/** Neighbours that are weighed, as on the path. */
const CANDIDATES = 8;
/** Pairs of a call that are judged, as on the path. */
const JUDGED = 3;
/** Below it nothing is near. */
const FLOOR = 0.35;
const BUDGETS = [0.005, 0.01, 0.02];
const LEARNED_AFTER = 5_000;
/** Values of `cache.error_budget`; the first one ships. */
const ERROR_BUDGETS = [0.01, 0.015];
/** Of out-of-scope questions no two have the same answer. */
const NO_INTENT = 'oos';

/** The nearest earlier questions of each, nearest first. */
export async function neighboursOf(rows, embedder) {
  const vectors = await embedder.embed(rows.map(([, text]) => text));
  return vectors.map((vector, now) => {
    const nearest = [];
    for (let before = 0; before < now; before++) {
      const other = vectors[before];
      let score = 0;
      for (let index = 0; index < vector.length; index++) score += vector[index] * other[index];
      if (nearest.length === CANDIDATES && score <= nearest.at(-1).score) continue;
      nearest.push({ before, score });
      nearest.sort((a, b) => b.score - a.score);
      nearest.length = Math.min(nearest.length, CANDIDATES);
    }
    return nearest;
  });
}

const isRight = (rows, now, before) => rows[before][2] === rows[now][2] && rows[now][2] !== NO_INTENT;

/** For each question the first earlier one that is found by its canonical key, before anything is compared. */
function canonicalHits(rows, keyOf) {
  const first = new Map();
  return rows.map(([, text], now) => {
    const key = keyOf(text);
    const before = key === null ? undefined : first.get(key);
    if (key !== null && before === undefined) first.set(key, now);
    return before;
  });
}

/** Most hits for each budget of errors, over all thresholds; `serves` says which candidates a guard lets through. */
function hitsWithin(rows, neighbours, canonical, serves) {
  const best = rows.flatMap((_, now) => {
    const known = canonical[now];
    if (known !== undefined) return [{ score: 1, right: isRight(rows, now, known) }];
    const found = neighbours[now].find(({ before }) => serves(rows[now][1], rows[before][1]));
    return found === undefined ? [] : [{ score: found.score, right: isRight(rows, now, found.before) }];
  });
  best.sort((a, b) => b.score - a.score);
  return BUDGETS.map(budget => {
    let wrong = 0;
    let most = { hits: 0, threshold: 1, wrong: 0 };
    best.forEach(({ score, right }, index) => {
      if (!right) wrong++;
      if (wrong <= budget * rows.length) most = { hits: index + 1, threshold: score, wrong };
    });
    return { budget, ...most, rate: most.hits / rows.length };
  });
}

/** The same path with a judge who knows the intents; counted are the calls after so many judgements. */
function learned(rows, neighbours, { Experience, guard }, budget) {
  const experience = new Experience(() => ({ errors: budget, judgeError: 0 }));
  const counted = { calls: 0, hits: 0, right: 0 };
  let judgements = 0;
  rows.forEach(([, text], now) => {
    const near = neighbours[now].filter(({ score }) => score >= FLOOR);
    const candidates = near.map(({ before, score }) => ({ id: String(before), text: rows[before][1], score, before }));
    const weighed = experience.weigh(text, candidates);
    const harmless = weighed.filter(({ dangerous }) => !dangerous);
    const explained = harmless.find(({ candidate }) => guard(text, candidate.text, 'strict').serve);
    const [likeliest] = harmless;
    const isSure = likeliest && experience.boundary !== null && likeliest.probability >= experience.boundary;
    const hit = explained ?? (isSure ? likeliest : undefined);
    if (judgements >= LEARNED_AFTER) {
      counted.calls++;
      if (hit) counted.hits++;
      if (hit && isRight(rows, now, hit.candidate.before)) counted.right++;
    }
    for (const pair of weighed.slice(0, JUDGED)) {
      judgements++;
      experience.learn({
        asked: String(now),
        kept: pair.candidate.id,
        features: pair.features,
        same: isRight(rows, now, pair.candidate.before),
        role: pair === likeliest ? 'first' : 'other',
      });
    }
    experience.seen(text);
  });
  return { budget, ...counted, judgements };
}

/** The same rows in an order of chance, always the same one. */
function shuffled(rows) {
  let state = 7;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const result = [...rows];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other], result[last]];
  }
  return result;
}

export async function evaluateStream(name, rows, parts) {
  const orders = { 'as published': rows, shuffled: shuffled(rows) };
  const results = [];
  for (const [order, ordered] of Object.entries(orders)) {
    const neighbours = await neighboursOf(ordered, parts.embedder);
    const canonical = canonicalHits(ordered, parts.keyOf);
    const within = mode => hitsWithin(ordered, neighbours, canonical, (a, b) => parts.guard(a, b, mode).serve);
    results.push({
      name,
      order,
      requests: ordered.length,
      static: { 'score alone': within('off'), balanced: within('balanced'), strict: within('strict') },
      learned: ERROR_BUDGETS.map(budget => learned(ordered, neighbours, parts, budget)),
    });
  }
  return results;
}

const percent = (part, whole) => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`);
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n');

/** Hits of all requests within a budget of wrong ones. */
export function budgetTable(results) {
  const head = ['stream', 'order', 'decided by', ...BUDGETS.map(budget => `≤ ${percent(budget, 1)} wrong`)];
  const cell = ({ rate, threshold }) => (rate === 0 ? '–' : `${percent(rate, 1)} (from ${threshold.toFixed(2)})`);
  return table(
    head,
    results.flatMap(({ name, order, static: deciders }) =>
      Object.entries(deciders).map(([decider, budgets]) => [name, order, decider, ...budgets.map(cell)]),
    ),
  );
}

/** Hits after learning, with the budget of errors that ships and with a larger one. */
export function learnedTable(results) {
  const head = [
    'stream',
    'order',
    '`cache.error_budget`',
    'judged pairs',
    'calls after the first 5 000',
    'hits',
    'of these right',
    'wrong of all',
  ];
  return table(
    head,
    results.flatMap(({ name, order, learned }) =>
      learned.map(({ budget, judgements, calls, hits, right }) => [
        name,
        order,
        budget,
        judgements,
        calls,
        percent(hits, calls),
        percent(right, hits),
        percent(hits - right, calls),
      ]),
    ),
  );
}
