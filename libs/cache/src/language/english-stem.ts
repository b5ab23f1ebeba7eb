/** Words whose ending is no inflection, and irregular ones. */
const IRREGULAR = new Map(
  Object.entries({
    does: 'do',
    has: 'have',
    having: 'have',
    goes: 'go',
    going: 'go',
    making: 'make',
    taking: 'take',
    giving: 'give',
    using: 'using',
    moving: 'move',
    coming: 'come',
    hiring: 'hire',
    sending: 'send',
    children: 'child',
    men: 'man',
    women: 'woman',
    feet: 'foot',
    teeth: 'tooth',
    mice: 'mouse',
    knives: 'knife',
    lives: 'life',
    wives: 'wife',
    e: 'e',
  }),
);

const FIXED = new Set(
  (
    'news checking always goods physics species savings earnings glasses clothes series lens is this its his hers ours yours ' +
    'theirs as us plus less yes was has gas bus dues means thanks perhaps besides sometimes afterwards towards ' +
    'interesting boring exciting building meeting setting settings saving earning listing rating string spring king ' +
    'ring thing bring during something nothing anything everything morning evening ceiling wedding pending missing ' +
    'outstanding marketing accounting banking training clothing housing wing sing sling swing sting cling beijing ' +
    'chongqing nanjing boeing viking pudding gaming parking landing opening ending following beginning remaining ' +
    'breathe morale finale rationale locale humane secrete envelope willing amazing surprising including excluding ' +
    'according texas paris atlas kansas arkansas dallas christmas windows ios macos aws sms gps dns https css rss'
  ).split(' '),
);

const DOUBLED = /([bdgmnprt])\1$/;
const KEEPS_DOUBLE_L = /^(?:install|enroll|fulfill|recall|scroll|payroll|uninstall|reinstall|small)$/;

/**
 * The same text for the forms of a noun (singular, plural) and of a verb (present, -ing), and for British and American
 * spelling. Past forms stay apart: they may tell of another time.
 */
export function stem(word: string): string {
  const known = recent.get(word);
  if (known !== undefined) return known;
  if (recent.size >= MOST_RECENT) recent.clear();
  const result = stemOf(word);
  recent.set(word, result);
  return result;
}

/** Questions use few words, and a stem takes twenty patterns. */
const recent = new Map<string, string>();
const MOST_RECENT = 10_000;

function stemOf(word: string): string {
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined) return irregular;
  if (word.length < 4 || word.length > 40 || FIXED.has(word) || !/^[a-z]+$/.test(word)) return word;
  return american(withoutE(withoutIng(withoutPlural(word))));
}

function withoutPlural(word: string): string {
  if (!word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word;
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  return /(?:sse|xe|che|she|zze)s$/.test(word) && word !== 'caches' ? word.slice(0, -2) : word.slice(0, -1);
}

function withoutIng(word: string): string {
  if (!word.endsWith('ing') || word.length < 6 || FIXED.has(word)) return word;
  const base = word.slice(0, -3);
  if (!/[aeiouy]/.test(base)) return word;
  return DOUBLED.test(base) ? base.slice(0, -1) : base;
}

/** What follows `-ing` cannot be told from it: changing, change. */
function withoutE(word: string): string {
  return word.length >= 6 && word.endsWith('e') && !word.endsWith('ee') && !FIXED.has(word) ? word.slice(0, -1) : word;
}

const AMERICAN: readonly (readonly [RegExp, string])[] = [
  [/^(col|fav|hon|lab|neighb|behavi|flav|hum|rum|harb|vap|arm|od|endeav|sav|parl)our/, '$1or'],
  [
    /^(organ|reorgan|real|recogn|custom|author|final|minim|maxim|optim|summar|categor|priorit|personal|initial|synchron|normal|standard|util|apolog|visual|monet|digit|fertil|memor|special|steril|item|critic|emphas|symbol|penal|legal|local|global|modern|stabil|equal|crystal|character)is(?=$|e|a)/,
    '$1iz',
  ],
  [/^(analy|paraly|cataly)s/, '$1z'],
  [/^(cent|theat|fib|lit|calib|meag|somb|kilomet|centimet|millimet|met)r$/, '$1er'],
  [/^(cent|theat|fib|lit|calib|meag|somb|kilomet|centimet|millimet|met)re$/, '$1er'],
  [/^(catal|dial|anal|monol|prol)ogu?e?$/, '$1og'],
  [/^(defen|licen|offen|preten)[cs]e?$/, '$1s'],
  [/^(cancel|travel|label|model|signal|fuel|level|total|dial|equal|counsel|channel)l(ed|er)?$/, '$1$2'],
  [/^programme?$/, 'program'],
  [/^grey$/, 'gray'],
  [/^tyre$/, 'tire'],
  [/^cheque$/, 'check'],
  [/^jewell(e?ry)$/, 'jewelry'],
  [/^aluminium$/, 'aluminum'],
  [/^mould/, 'mold'],
  [/^enrol$/, 'enroll'],
  [/^fulfil$/, 'fulfill'],
  [/^instal$/, 'install'],
];

function american(word: string): string {
  if (KEEPS_DOUBLE_L.test(word)) return word;
  for (const [pattern, replacement] of AMERICAN) {
    if (pattern.test(word)) return word.replace(pattern, replacement);
  }
  return word;
}
