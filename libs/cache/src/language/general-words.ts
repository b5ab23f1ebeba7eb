import { stem } from './english-stem';

/**
 * Words that name nothing by themselves: praise, and verbs and nouns that stand for many others. One of them in the
 * place of another is mostly another way to say it; no name, action of a shop or grade of a product is among them.
 */
const GENERAL =
  'good best great greatest nice nicest awesome amazing excellent outstanding wonderful fantastic incredible cool neat top ' +
  'finest perfect ideal superb favorite impressive remarkable stunning mind blowing interesting fascinating useful helpful ' +
  'handy important significant effective efficient worthwhile reliable reputable easy easiest simple simplest quick ' +
  'quickest fastest right correct proper suitable appropriate real true genuine actual main major key common popular ' +
  'famous notable well known typical beautiful beautifully pretty lovely gorgeous funny funniest hilarious weird strange ' +
  'strangest odd crazy stupid dumb silly ridiculous worth ' +
  'make do use get have give take see watch read hear know think feel find look seem become be go come try want like love ' +
  'prefer consider believe suggest recommend offer provide show tell explain describe say mean happen handle approach ' +
  'achieve accomplish reach perform gain earn develop improve made done used got given taken seen known thought felt found ' +
  'become tried wanted liked believed suggested recommended happened experienced encountered came went said ' +
  'way method approach technique strategy trick tip advice suggestion idea option thing stuff person people guy everyone ' +
  'reason cause factor example instance case kind type sort part aspect fact view opinion thought review secret mystery ' +
  'experience life situation really truly actually ever just basically exactly personally simply so very would could might ' +
  'should step procedure resource material source';

const WORDS: ReadonlySet<string> = new Set(GENERAL.split(' ').map(stem));

const EMPHASIS: ReadonlySet<string> = new Set('really truly actually ever exactly simply basically would'.split(' '));
const PRAISE: ReadonlySet<string> = new Set(
  'good great nice awesome amazing excellent wonderful fantastic cool'.split(' ').map(stem),
);

/** Whether a stem may be left out, or put in, without asking for anything else. */
export function isEmphasis(stemmed: string): boolean {
  return EMPHASIS.has(stemmed);
}

/** Whether a stem says of a thing that it is wanted; what is good about it may still be the question. */
export function isPraise(stemmed: string): boolean {
  return PRAISE.has(stemmed);
}

export function isGeneral(stemmed: string): boolean {
  return WORDS.has(stemmed);
}

/** Whether one word is the other with an ending that leaves its meaning: use, used; Korea, Korean. */
export function isOtherForm(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 3 && long.startsWith(short) && /^(?:e?d|ly|e?a?n)$/.test(long.slice(short.length));
}
