// Retrieval: all first texts of a set are kept, each second one asks; right is its own first text.

/** Neighbours that are weighed, as on the path. */
const CANDIDATES = 8;
/** Wrong answers in a thousand that a comparison allows: those that GPTCache's own benchmark counts are 77 and 92. */
const WRONG_ALLOWED = 50;

const cosine = (a, b) => a.reduce((sum, value, at) => sum + value * b[at], 0);

/** For each row its candidates as an experience weighs them, likeliest first; `isRight` says of each whether it is. */
export async function retrieved(rows, { embedder, Experience }) {
  const experience = new Experience(() => ({ errors: 0, judgeError: 0 }));
  const kept = await embedder.embed(rows.map(([, text]) => text));
  const asked = await embedder.embed(rows.map(([, , text]) => text));
  for (const [, text] of rows) experience.seen(text);
  return rows.map(([, , text], at) => {
    const near = kept
      .map((vector, id) => ({ id: String(id), text: rows[id][1], score: cosine(vector, asked[at]) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, CANDIDATES);
    return experience.weigh(text, near).map(one => ({ ...one, isRight: one.candidate.id === String(at) }));
  });
}

/** The most right answers with so many wrong ones, over all thresholds of what decides. */
function within(calls, valueOf, wrongAllowed) {
  const best = calls
    .map(candidates =>
      candidates.map(one => ({ value: valueOf(one), isRight: one.isRight })).sort((a, b) => b.value - a.value),
    )
    .flatMap(sorted => sorted.slice(0, 1))
    .sort((a, b) => b.value - a.value);
  let [right, wrong] = [0, 0];
  let most = { right: 0, wrong: 0 };
  for (const { isRight } of best) {
    if (isRight) right++;
    else wrong++;
    if (wrong <= wrongAllowed) most = { right, wrong };
  }
  return { ...most, nearest: right, reached: calls.filter(all => all.some(({ isRight }) => isRight)).length };
}

/** By score alone, and as the verifier orders candidates before any judgement; all rows, and those held out. */
export function retrievalRows(name, calls) {
  const deciders = {
    'score alone': ({ candidate }) => candidate.score,
    'verifier, before any judgement': ({ probability }) => probability,
  };
  const halves = { all: calls, 'held out': calls.filter((_, at) => at % 2 === 1) };
  return Object.entries(deciders).flatMap(([decider, valueOf]) =>
    Object.entries(halves).map(([half, some]) => {
      const allowed = Math.round((WRONG_ALLOWED * some.length) / calls.length);
      return { name, decider, half, calls: some.length, allowed, ...within(some, valueOf, allowed) };
    }),
  );
}
