import { read, type Term } from './reading';

/** A text is read again until it says the same twice: what is dropped may join what stood around it. */
const MOST_READINGS = 4;

/**
 * What a text asks, without politeness, function words and typing: equal keys are the same question. Order, person,
 * numbers and negation stay. Null where nothing is left.
 */
export function canonicalKey(text: string): string | null {
  let key = keyOf(read(text));
  for (let reading = 1; reading < MOST_READINGS; reading++) {
    const again = keyOf(read(key));
    if (again === key) return key === '' ? null : key;
    key = again;
  }
  return null;
}

function keyOf(terms: readonly Term[]): string {
  if (!terms.some(term => term.kind !== 'ask' && term.kind !== 'role')) return '';
  let key = '';
  let before: Term['script'] | null = null;
  for (const term of terms) {
    if (term.kind === 'role' && term.concept === '的') continue;
    key += (key === '' || (before === 'han' && term.script === 'han') ? '' : ' ') + written(term);
    before = term.script;
  }
  return key;
}

/** Question words are folded; all others stay as they are, so that nothing rests on a synonym here. */
function written({ kind, concept, surface, script }: Term): string {
  if (kind !== 'ask') return surface;
  return (script === 'han' ? HAN_ASKS[concept] : ASKS[concept]) ?? surface;
}

/** A question word that is read as itself. */
const ASKS: Readonly<Record<string, string>> = {
  how: 'how to',
  what: 'what',
  explain: 'explain',
  list: 'list',
  price: 'price',
  when: 'when',
  where: 'where',
  why: 'why',
  can: 'can',
};

const HAN_ASKS: Readonly<Record<string, string>> = {
  how: '怎么',
  what: '什么',
  explain: '介绍',
  list: '列举',
  price: '价格',
  when: '何时',
  where: '哪里',
  why: '为何',
  can: '可以',
  solve: '怎么办',
  'how-long': '多久',
};
