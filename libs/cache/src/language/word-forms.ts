/** Past participles that are not formed by -ed, with their verbs. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  (
    'begun begin, bought buy, built build, broken break, brought bring, caught catch, chosen choose, done do, drawn draw, ' +
    'driven drive, eaten eat, found find, forgotten forget, frozen freeze, given give, grown grow, held hold, hidden hide, ' +
    'kept keep, known know, left leave, lent lend, lost lose, made make, meant mean, paid pay, put put, read read, run run, ' +
    'seen see, sent send, set set, shown show, sold sell, spent spend, split split, taken take, taught teach, told tell, ' +
    'worn wear, won win, withdrawn withdraw, written write'
  )
    .split(', ')
    .map(pair => pair.split(' ') as [string, string]),
);

const VOWEL = /[aeiou]/;

/** Whether a word may say of a thing what was done to it. */
export function isParticiple(word: string): boolean {
  return IRREGULAR.has(word) || /[a-z]{2}ed$/.test(word);
}

/** Whether one word says of a thing what was done to it by another: waived, waive; sold, sell. */
export function isParticipleOf(participle: string, verb: string): boolean {
  if (IRREGULAR.get(participle) === verb) return true;
  if (!participle.endsWith('ed') || verb.length < 3) return false;
  const [stem, last = ''] = [participle.slice(0, -2), verb.at(-1)];
  if (last === 'e') return `${stem}e` === verb;
  if (last === 'y' && !VOWEL.test(verb.at(-2) ?? '')) return stem === `${verb.slice(0, -1)}i`;
  return stem === verb || stem === verb + last;
}

const OF_EVENTS = ['', 'ing', 'al', 'ity', 'ation', 'ion', 'ure', 'ment'];

/** Whether a noun names what a verb says: arrival, arrive; maturity, mature; delivery, deliver; start, start. */
export function isEventOf(noun: string, verb: string): boolean {
  const stem = verb.endsWith('e') ? verb.slice(0, -1) : verb;
  if (stem.endsWith('r') && noun === `${stem}y`) return true;
  return OF_EVENTS.some(ending => noun === verb + ending || noun === stem + ending);
}
