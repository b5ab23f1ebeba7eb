// What scores say of pairs, with the guards and without: areas under the curve, precision and recall, and pictures of them.

const percent = (part, whole) => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`);
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n');

/** Of a model whose scores were published with the pairs. */
const PUBLISHED_THRESHOLDS = [0.8, 0.83, 0.86, 0.89, 0.92];
/** Where its publishers reuse. */
const PUBLISHERS_THRESHOLD = 0.86;
/** From so many pairs of a kind on a curve says something. */
const LEAST_PAIRS = 30;

/** Probability that a pair of equal questions scores higher than one of different ones (Mann and Whitney 1947). */
export function areaUnderCurve(pairs, scoreOf) {
  const [same, different] = [true, false].map(isSame => pairs.filter(pair => pair.isSame === isSame).map(scoreOf));
  if (same.length * different.length === 0) return null;
  let above = 0;
  for (const one of same) for (const other of different) above += one > other ? 1 : one === other ? 0.5 : 0;
  return above / (same.length * different.length);
}

/** Of what `serves`: how much is right, and how much of what is equal. */
export function reach(pairs, serves) {
  const served = pairs.filter(serves);
  const right = served.filter(({ isSame }) => isSame).length;
  const same = pairs.filter(({ isSame }) => isSame).length;
  return { served: served.length, right, wrong: served.length - right, same, different: pairs.length - same };
}

const precisionAndRecall = ({ served, right, same }) =>
  `${served === 0 ? '–' : (right / served).toFixed(3)} / ${(right / same).toFixed(3)}`;

export function areaTable(sets) {
  const rows = sets.flatMap(({ name, pairs }) => {
    const builtin = areaUnderCurve(pairs, ({ cosine }) => cosine);
    if (builtin === null) return [];
    const published = pairs.every(({ published }) => published !== null)
      ? areaUnderCurve(pairs, pair => pair.published).toFixed(3)
      : '–';
    return [[name, pairs.length, builtin.toFixed(3), published]];
  });
  return rows.length === 0 ? '' : table(['set', 'pairs', 'builtin', 'published scores'], rows);
}

function publishedRow(name, pairs, threshold) {
  const [alone, guarded] = [
    reach(pairs, pair => pair.published >= threshold),
    reach(pairs, pair => pair.balancedAt(threshold)),
  ];
  return [
    name,
    threshold.toFixed(2),
    precisionAndRecall(alone),
    precisionAndRecall(guarded),
    percent(alone.wrong, alone.different),
    percent(guarded.wrong, guarded.different),
  ];
}

/** Of a set that was not read as a whole. */
const halvesOf = (name, pairs) =>
  /traps|everyday/.test(name)
    ? []
    : [
        { name: `${name}, rows that were read`, pairs: pairs.filter(({ heldOut }) => !heldOut) },
        { name: `${name}, held out`, pairs: pairs.filter(({ heldOut }) => heldOut) },
      ];

export function publishedTable(sets) {
  const rows = sets
    .filter(({ pairs }) => pairs.every(({ published }) => published !== null))
    .flatMap(({ name, pairs }) => [
      ...PUBLISHED_THRESHOLDS.map(threshold => publishedRow(name, pairs, threshold)),
      ...halvesOf(name, pairs).map(half => publishedRow(half.name, half.pairs, PUBLISHERS_THRESHOLD)),
    ]);
  const head = [
    'set',
    'score at least',
    'alone: precision / recall',
    'balanced: precision / recall',
    'alone: false reuse',
    'balanced: false reuse',
  ];
  return rows.length === 0 ? '' : table(head, rows);
}

/** What is served at once, and once a judge has approved the equal pairs that came near. */
export function judgeTable(sets) {
  const rows = sets
    .filter(({ name }) => /traps|everyday|oppo|qqp/.test(name))
    .map(({ name, pairs }) => {
      const same = pairs.filter(({ isSame }) => isSame);
      const share = test => percent(same.filter(test).length, same.length);
      const once = [({ servedAtOnce }) => servedAtOnce, ({ servedOnceJudged }) => servedOnceJudged];
      const admitted = once.map(test => pair => pair.admitted && test(pair));
      return [name, same.length, ...once.map(share), ...admitted.map(share)];
    });
  return rows.length === 0
    ? ''
    : table(
        ['set', 'equal pairs', 'served at once', 'once judged', 'at once, admitted', 'once judged, admitted'],
        rows,
      );
}

export function retrievalTable(rows) {
  const head = ['set', 'rows', 'order by', 'right', 'wrong', 'nearest is right', 'among the 8 nearest'];
  return rows.length === 0
    ? ''
    : table(
        head,
        rows.map(({ name, half, calls, decider, right, wrong, nearest, reached }) => [
          name,
          `${half} (${calls})`,
          decider,
          right,
          wrong,
          nearest,
          reached,
        ]),
      );
}

/** Precision over recall as the least score falls. */
function curve(pairs, scoreOf, serves) {
  const sorted = pairs.filter(serves).sort((a, b) => scoreOf(b) - scoreOf(a));
  const same = pairs.filter(({ isSame }) => isSame).length;
  let right = 0;
  return sorted.flatMap((pair, at) => {
    if (pair.isSame) right++;
    const isLast = at + 1 === sorted.length || scoreOf(sorted[at + 1]) !== scoreOf(pair);
    return isLast && right > 0 ? [{ x: right / same, y: right / (at + 1) }] : [];
  });
}

/** A panel for each set and kind of score: by score alone, and with each guard. */
export function panelsOf(sets) {
  return sets.flatMap(({ name, pairs }) => {
    const same = pairs.filter(({ isSame }) => isSame).length;
    if (Math.min(same, pairs.length - same) < LEAST_PAIRS) return [];
    const panel = (title, scoreOf, balanced) => ({
      title,
      series: [
        { name: 'score alone', colour: '#8a94a0', points: curve(pairs, scoreOf, () => true) },
        { name: 'balanced', colour: '#0b6bcb', points: curve(pairs, scoreOf, balanced) },
        { name: 'strict', colour: '#2e7d32', points: curve(pairs, scoreOf, pair => pair.strict) },
      ],
    });
    const builtin = panel(
      `${name}, builtin`,
      ({ cosine }) => cosine,
      pair => pair.balanced,
    );
    if (!pairs.every(({ published }) => published !== null)) return [builtin];
    return [
      builtin,
      panel(
        `${name}, published scores`,
        pair => pair.published,
        pair => pair.balancedAt(0),
      ),
    ];
  });
}
