import { OF, type Term } from './reading';
import { isEventOf, isParticiple, isParticipleOf } from './word-forms';

/**
 * A question in another form of sentence, its words turned to those of `other` where they are forms of one verb. Null
 * where the form does not fit.
 */
type SentenceForm = (asked: Asked, other: readonly Term[]) => readonly Term[] | null;

/** A question as what it asks, and what about. */
interface Asked {
  readonly asks: readonly Term[];
  readonly rest: readonly Term[];
}

/** The same question in the forms of English that say it with other words in another order. */
export function inOtherForms(terms: readonly Term[], other: readonly Term[]): (readonly Term[])[] {
  const start = terms.findIndex(({ kind }) => kind !== 'ask');
  if (start < 1 || terms.some(({ script }) => script === 'han')) return [];
  const asked = { asks: terms.slice(0, start), rest: terms.slice(start) };
  return FORMS.map(form => form(asked, other)).filter(form => form !== null);
}

const FORMS: readonly SentenceForm[] = [
  (asked, other) => active(asked, other, (by, verb, what) => [...by, verb, ...what]),
  (asked, other) => active(asked, other, (by, verb, what) => [...what, ...by, verb]),
  activeOfAnybody,
  having,
  owning,
  getting,
  happening,
  measuring,
  being,
];

/** Where a thing is done by what it is done in or with: fees waived on a card, a card that waives fees. */
const AGENT = new Set(['by', 'on', 'in', 'at', 'with']);

/** `Are fees waived by banks?` for `Do banks waive fees?`; with the thing first: `Which fees do banks waive?` */
function active(
  { asks, rest }: Asked,
  other: readonly Term[],
  arranged: (by: readonly Term[], verb: Term, what: readonly Term[]) => readonly Term[],
): readonly Term[] | null {
  const at = rest.findIndex(({ kind, concept }) => kind === 'role' && AGENT.has(concept));
  const [what, by] = [rest.slice(0, Math.max(0, at - 1)), rest.slice(at + 1)];
  const verb = verbOf(rest[at - 1], other);
  if (at < 0 || verb === null || !isThing(what) || !isThing(by)) return null;
  return [...asks, ...arranged(by, verb, what)];
}

/**
 * What those who ask do themselves. Of other verbs a passive asks for what may be done to them: can my phone be tracked?
 */
const ONES_OWN: ReadonlySet<string> = new Set(
  (
    'activate add book buy cancel change choose clean combine connect deposit download edit exchange extend install ' +
    'modify move open order pay postpone print purchase redeem remove renew rent request reschedule reserve reset ' +
    'return share store submit switch transfer turn uninstall update upgrade upload use wash withdraw'
  ).split(' '),
);

/** `Can shoes be returned?` for `Can I return shoes?`, and `Are cards accepted?` for `Do you accept cards?` */
function activeOfAnybody({ asks, rest }: Asked, other: readonly Term[]): readonly Term[] | null {
  const at = rest.findIndex(term => verbOf(term, other) !== null);
  const [what, more] = [rest.slice(0, Math.max(0, at)), rest.slice(at + 1)];
  const verb = verbOf(rest[at], other);
  if (verb === null || !isThing(what) || more[0]?.concept === 'by') return null;
  const isModal = asks.some(({ surface }) => /\b(?:can|could|should)\b/.test(surface));
  if (isModal) return ONES_OWN.has(verb.surface) ? [...asks, verb, ...what, ...more] : null;
  const you = other.find(({ kind, concept }) => kind === 'person' && concept === '2');
  const areMany = asks.length === 1 && asks[0]?.surface === 'are' && !what.some(({ kind }) => kind === 'person');
  return you !== undefined && areMany ? [...asks, you, verb, ...what, ...more] : null;
}

const PLACE = new Set(['in', 'at', 'on', 'with']);

/** `Is there parking at the hotel?` for `Does the hotel have parking?` */
function having({ asks, rest }: Asked, other: readonly Term[]): readonly Term[] | null {
  const at = rest.findIndex(({ kind, concept }) => kind === 'role' && PLACE.has(concept));
  const [what, place] = [rest.slice(0, Math.max(0, at)), rest.slice(at + 1)];
  const have = other.find(isHave);
  const isWhether = asks.every(({ surface }) => /^(?:is|are)(?: there.*)?$/.test(surface));
  if (!isWhether || have === undefined || !isThing(what) || !isThing(place)) return null;
  return [...other.filter(({ kind }) => kind === 'ask'), ...place, have, ...what];
}

/** `What are the benefits of tea?` for `What benefits does tea have?` */
function owning({ asks, rest }: Asked, other: readonly Term[]): readonly Term[] | null {
  const at = rest.findIndex(isOf);
  const have = other.at(-1);
  if (at < 1 || have === undefined || !isHave(have)) return null;
  return [...asks, ...rest.slice(0, at), ...rest.slice(at + 1), have];
}

/** `Are fees waived for members?` for `Do members get fees waived?` */
function getting({ asks, rest }: Asked, other: readonly Term[]): readonly Term[] | null {
  const at = rest.findIndex(({ kind, concept }) => kind === 'role' && concept === 'for');
  const [what, whom] = [rest.slice(0, Math.max(0, at)), rest.slice(at + 1)];
  const get = other.find(({ surface }) => /^gets?$/.test(surface));
  if (get === undefined || !isParticiple(what.at(-1)?.surface ?? '')) return null;
  return isThing(what) && isThing(whom) ? [...asks, ...whom, get, ...what] : null;
}

/** `What is the arrival date of the train?` for `When does the train arrive?` */
function happening({ asks, rest }: Asked, other: readonly Term[]): readonly Term[] | null {
  const [event, date, of, ...what] = rest;
  const when = other.find(({ kind, concept }) => kind === 'ask' && concept === 'when');
  const verb = other.at(-1);
  if (event === undefined || when === undefined || verb === undefined || date?.concept !== 'date') return null;
  const isOfWhat = of !== undefined && (isOf(of) || (of.kind === 'role' && of.concept === 'for'));
  if (!isOfWhat || !isThing(what) || !isEventOf(event.surface, verb.surface)) return null;
  return asks.every(({ concept }) => concept === 'what') ? [when, ...what, verb] : null;
}

/** What is asked for by `how` and a word of size. */
const SIZES: Readonly<Record<string, RegExp>> = {
  heavy: /^weigh(?:t|s)?$/,
  tall: /^height$/,
  high: /^height$/,
  wide: /^width$/,
  deep: /^depth$/,
  thick: /^thickness$/,
  old: /^age$/,
  big: /^size$/,
  large: /^size$/,
  fast: /^speed$/,
};

/** `How tall is the tower?` for `What is the height of the tower?` */
function measuring({ asks, rest }: Asked, other: readonly Term[]): readonly Term[] | null {
  const [size, ...what] = rest;
  const measured = SIZES[size?.surface ?? ''];
  const measure = other.find(({ surface }) => measured?.test(surface) === true);
  const asksHow = asks.length === 1 && asks[0]?.surface === 'how';
  if (!asksHow || measure === undefined || !isThing(what)) return null;
  return [...other.filter(({ kind }) => kind === 'ask'), ...what, measure];
}

/** `Is changing the date possible?` for `Can I change the date?` */
function being({ asks, rest }: Asked, other: readonly Term[]): readonly Term[] | null {
  const can = other.find(({ kind, concept }) => kind === 'ask' && concept === 'can');
  const isWhether = asks.length === 1 && asks[0]?.concept === 'whether';
  if (!isWhether || can === undefined || rest.at(-1)?.surface !== 'possible') return null;
  return [can, ...rest.slice(0, -1)];
}

/** The verb of the other text that a participle is of. */
function verbOf(participle: Term | undefined, other: readonly Term[]): Term | null {
  if (participle?.kind !== 'word') return null;
  return other.find(({ kind, surface }) => kind === 'word' && isParticipleOf(participle.surface, surface)) ?? null;
}

/** Something that has a name, without more to it than whose it is. */
function isThing(terms: readonly Term[]): boolean {
  return terms.length > 0 && terms.every(term => term.kind !== 'ask' && (term.kind !== 'role' || isOf(term)));
}

function isOf({ kind, concept }: Term): boolean {
  return kind === 'role' && concept === OF;
}

function isHave({ surface }: Term): boolean {
  return surface === 'have' || surface === 'has';
}
