import { ENGLISH_SYNONYMS } from './english-synonyms';
import { stem } from './english-stem';
import { Lexicon, type Vocabulary } from './lexicon';

/** How people ask in English. Synonyms stand apart. */
const ENGLISH: Vocabulary = {
  ask: {
    how:
      '(how|how do|how does|how can|how could|how should|how would|how might) (i|we|one|a person|someone|) (go about|),' +
      'how to, how (do|can|should) i go about, how is it possible to, how (is|are) it possible for me to,' +
      'what (is|are) (the|a|an|your|) (best|easiest|right|correct|proper|simplest|recommended|good|) (way|ways|method|methods|procedure|process|steps) (to|for|of),' +
      'what (do|should|must) i (do|need to do|have to do) to, (steps|instructions|guide|way|ways|method|process|procedure) (to|for), what steps (do|should) i (take|follow) to,' +
      'in what way can i, by what means can i, the (best|easiest|right) way to, the (way|steps|process) to,' +
      'i (want|would like|need|wish|am trying) to know how to, (tell|show|teach|explain to|walk) me (how to|how i can|how do i|through how to|through),' +
      'explain how to, describe how to, guide me on how to, learn how to, what is the process (for|of), what is the procedure (for|of)',
    price:
      'how much (is|are) (the|), how much (does|do|will|would), price, cost, pricing, what (is|are) the (price|cost) (of|for),' +
      '(price|cost) (of|for), price tag, how much money (is|does)',
    available:
      '(do|does) (you|you guys|they|your store|the store|your company) (have|offer|sell|provide|carry|stock) (a|an|any|), is there (a|an|any), are there (any|), available, availability of,' +
      'can i get (a|an|)',
    'how-much': 'how much, how many',
    'how-long':
      'how long (does it take|will it take|would it take|) (to|for|), how much time (does it take|) (to|for|), how many days, (what|) length of time',
    'how-often': 'how often, how frequently',
    when: 'when, what time, at what time, by what time, on what (day|date), what (day|date), at which time',
    where:
      'where, where (can|do|could|would) i (find|get|), in (what|which) (place|location), at which (place|location), (what|which) (place|location)',
    why: 'why, what is the need (to|for), what is the reason (for|that|why|), what are the reasons (for|that|why|), for what reason, how come, what makes, the reason (why|for)',
    who: 'who, whom, which person, what person',
    whose: 'whose',
    which: 'which, which one',
    can: '(can|could) (i|we|one|someone|people), is it possible (to|for me to|that i|), am i able to, are (we|people) able to, can, would it be possible to, is there (a|any) way to, is there (a|any) (way|possibility) (for me|) to',
    may: 'may (i|we), (am i|are we) (allowed|permitted) to, is it (allowed|permitted|ok|okay|legal) to',
    should: '(should|shall) (i|we|one), should, is it (advisable|recommended) to, ought (i|we) to',
    must: '(do|must) (i|we) (have to|need to), must (i|we), am i (required|obliged) to, is it (necessary|required|mandatory) to, must, have to, need to',
    'to-do':
      'what (do|can|could|should|must|shall) (i|we|one) do, what (do|must) (i|we) (have|need) to do, what (is|) to do',
    what: 'what (is|are) (the|a|an|), what, what is meant by, mean, stand for, the meaning of, what is the (meaning|definition) of, what do you know about, what are some (of the|)',
    explain:
      '(tell|teach) me about (the|a|an|), tell me more about, tell me what, explain (to me|) (the|a|an|) (concept of|idea of|term|meaning of|), explain what (is|are), explain what,' +
      'describe (the|a|an|), define (the term|), (the|) definition of, (give|provide) (me|) (an overview|a definition|an explanation) of',
    list: 'list (the|), name the, enumerate (the|), (give|show|tell) me a list of (the|), a list of',
  },
  opening: {
    '':
      '(can|could|would|will) you (please|kindly|) (tell|show|explain to|help|inform|advise) me (about|with|if|whether|), (can|could|would|will) you please, (please|kindly) (tell|show|let) me (know|), would you mind telling me,' +
      'do you know (if|whether|), do you happen to know, i (want|need|would like|wanted|wish) to (know|ask|find out|learn|understand) (about|if|whether|), i (was|am) wondering (if|whether|), i wonder (if|whether|), i am (curious|looking to find out) (about|),' +
      'i (want|need|would like) (help with|to), i am (trying|looking) to, help me (to|with|), let me know, tell me, show me, give me, any idea (about|), (may|can|could) i (know|ask), i have a question (about|), (quick|just a quick) question, just curious,' +
      'hi, hello, hey, hi there, hello there, dear, ok, okay, well, um, uh, so, actually, basically, sorry, excuse me, by the way, good (morning|afternoon|evening)',
  },
  drop: {
    '':
      'please, pls, plz, kindly, (thanks|thank you|thx) in advance, thanks, thank you (so much|very much|), thx, cheers, exactly, really, actually, if possible, and thanks, if so, if yes,' +
      'a, an, the, some, any, be, been, am, is, are, do, it, there, of, then, s, oh',
  },
  polarity: {
    not: 'not, no, cannot, do not, does not, is not, are not, can not, isnt, dont, doesnt, cant, arent, wont, nor, neither',
    never: 'never',
    without: 'without, lacking, with no',
    none: 'none, nothing, nobody, nowhere',
    except: 'except, except for, excluding, other than, apart from, but not, exclude, excluded',
    unable: 'unable, impossible',
    hardly: 'hardly, barely, rarely, seldom',
    fail: 'fail, failed, failing',
  },
  person: {
    '1': 'i, me, my, mine, myself, we, us, our, ours, ourselves',
    '2': 'you, yourself',
    your: 'your, yours',
    he: 'he, him, his, himself',
    she: 'she, her, hers, herself',
    they: 'they, them, their, theirs, themselves, someone else',
    anyone: 'someone, somebody, anyone, anybody',
  },
  quantity: {
    all: 'all, every, each, everyone, everything, whole, entire',
    both: 'both',
    half: 'half',
    more: 'more, greater, higher',
    less: 'less, fewer, lower',
    most: 'most',
    least: 'least',
    'at-least': 'at least, no less than, minimum, min, lowest',
    'at-most': 'at most, up to, no more than, maximum, max, highest',
    over: 'over, above, more than, exceeding',
    under: 'under, below, less than',
    many: 'many, several, multiple, much, a lot, lots',
    few: 'few, a few, a little',
    first: 'first, 1st',
    second: 'second, 2nd',
    third: 'third, 3rd',
    twice: 'twice, double',
    once: 'once',
    single: 'single',
    about: 'approximately, around, roughly',
    enough: 'enough',
    too: 'too',
  },
  role: {
    will: 'will, (am|is|are|m|s|re) going to, gonna',
    from: 'from, out of, off',
    to: 'to, into, onto, toward, towards',
    by: 'by',
    for: 'for',
    with: 'with',
    via: 'via, through, by using, using, by means of',
    against: 'against',
    between: 'between, among',
    than: 'than',
    versus: 'versus, vs, compared to, compared with, in comparison with, as opposed to',
    at: 'at',
    on: 'on, upon',
    in: 'in, inside, within, throughout',
    about: 'about, regarding, concerning, with regard to, on the subject of',
    per: 'per',
    as: 'as, like',
    up: 'up',
    down: 'down',
    across: 'across',
    and: 'and',
    or: 'or',
    instead: 'instead, instead of, rather than',
  },
  scope: {
    only: 'only, just, solely, merely, exclusively',
    even: 'even',
    also: 'also, as well, additionally',
    other: 'other, another, else, different, alternative',
    same: 'same, identical, equal',
    this: 'this, these',
    that: 'that, those',
    including: 'including, included, inclusive',
    own: 'own',
    certain: 'certain, specific, particular',
    mainly: 'mainly, mostly, usually, typically, generally, normally',
    always: 'always',
    new: 'new',
    old: 'old, former',
  },
  time: {
    now: 'now, right now, at the moment, currently, current, at present, presently, as of now, these days, nowadays',
    today: 'today',
    tonight: 'tonight',
    tomorrow: 'tomorrow',
    yesterday: 'yesterday',
    last: 'last, previous, past, prior',
    next: 'next, upcoming, (the|this) coming',
    past: 'was, were, did, had, have been, has been',
    ago: 'ago, earlier',
    later: 'later, afterwards',
    soon: 'soon',
    already: 'already',
    yet: 'yet, still',
    anymore: 'anymore, any more, any longer, no longer',
    latest: 'latest, newest, most recent, recent, recently, lately',
    daily: 'daily, per day, a day, each day, every day',
    weekly: 'weekly, per week, a week, each week, every week',
    monthly: 'monthly, per month, a month, each month, every month',
    yearly: 'yearly, annual, annually, per year, a year, each year, every year, per annum',
    before: 'before, prior to, ahead of',
    after: 'after',
    during: 'during, while',
    until: 'until, till',
    since: 'since',
  },
  condition: {
    if: 'if, in case, provided that, assuming, as long as, suppose',
    unless: 'unless',
    whenever: 'whenever',
    because: 'because, because of, due to',
    although: 'although, though, despite, in spite of',
    but: 'but, however',
    whether: 'whether',
  },
  word: ENGLISH_SYNONYMS,
};

/** Finds English phrases among stems. */
export const englishLexicon = new Lexicon(ENGLISH, phrase => phrase.split(' ').map(stem));
