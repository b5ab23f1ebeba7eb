import { Histogram } from '../histogram';

/** Lengths of answers that are supposed while nothing is known. */
const LONGEST_SUPPOSED = 2048;
const SUPPOSED = [128, 256, 512, 1024, LONGEST_SUPPOSED];
/** What is supposed, or known of less similar calls, counts as so many answers while few are known. */
const ANSWERS_SUPPOSED = 20;
/** It counts less with every answer that is known, and no more from here on. */
const ENOUGH = 200;
/** What is supposed is never longer than a small part of a limit, or this: a limit must hold more than a few calls. */
const SHORTEST_LONG = 512;
const LONGEST_PART = 1 / 64;

/**
 * An answer counts as so many times the longest of late at most. One that is far longer than all others is met once in a
 * while and would take most of a limit away from hundreds; where such answers come often, few of them make it learned.
 */
const MOST_TIMES_LONGER = 4;

/** Standard deviations between what is expected of all answers under way together and what is reserved for them. */
const DEVIATIONS = 3.5;

/** The answers that share a limit on tokens with each other. */
export interface AnswersUnderWay {
  /** Tokens a minute. */
  readonly limit: number;
  /** How many are under way while the limit is used up, at least 1. */
  readonly count: number;
}

/** So many answers, and their moments as sums of powers of their lengths. */
interface Mass {
  count: number;
  first: number;
  second: number;
  third: number;
}

/** How long the answers to calls of one kind were, the old forgotten. */
export class AnswerLengths {
  private readonly histogram = new Histogram();
  private readonly sums: Mass = { count: 0, first: 0, second: 0, third: 0 };
  /** Of the lengths that were counted, halved with the weights. */
  private longest = LONGEST_SUPPOSED;

  /** Answers that it knows of, old ones counting less. */
  get count(): number {
    return this.sums.count;
  }

  /** Takes in the length of an answer, in tokens. */
  add(tokens: number): void {
    if (this.histogram.add(tokens)) this.forgetHalf();
    const counted = Math.min(tokens, MOST_TIMES_LONGER * this.longest);
    this.longest = Math.max(this.longest, counted);
    addTo(this.sums, counted);
  }

  /** What this share of the answers did not exceed, in tokens; 0 when none is known. */
  quantile(share: number): number {
    return this.histogram.quantile(share);
  }

  /**
   * Tokens to reserve for one answer, so that all that are under way together hardly ever exceed what is reserved for
   * them.
   *
   * A long answer is under way for longer: whoever looks meets lengths in proportion to themselves (length-biased
   * sampling, Cox 1969). So each counts as the mean of lengths weighted by themselves, E[L²] ÷ E[L], and what they
   * deviate from it, √(E[L³] ÷ E[L] − mean²), adds up as of independent values: n of them share √n deviations.
   */
  reserve(underWay: AnswersUnderWay, others: AnswerLengths | null = null): number {
    const { first, second, third } = this.mass(underWay.limit, others);
    const mean = second / first;
    const deviation = Math.sqrt(Math.max(0, third / first - mean * mean));
    return mean + (DEVIATIONS * deviation) / Math.sqrt(underWay.count);
  }

  /** Of the answers that are known, and of some that are supposed, or known of others, while those are few. */
  private mass(limit: number, others: AnswerLengths | null): Mass {
    const { count, first, second, third } = this.sums;
    const missing = ANSWERS_SUPPOSED * Math.max(0, 1 - count / ENOUGH);
    if (missing === 0) return this.sums;
    const more = others?.mass(limit, null) ?? supposedMass(limit);
    const share = missing / more.count;
    return {
      count: count + missing,
      first: first + share * more.first,
      second: second + share * more.second,
      third: third + share * more.third,
    };
  }

  private forgetHalf(): void {
    this.longest = Math.max(LONGEST_SUPPOSED, this.longest / 2);
    this.sums.count /= 2;
    this.sums.first /= 2;
    this.sums.second /= 2;
    this.sums.third /= 2;
  }
}

function supposedMass(limit: number): Mass {
  const longest = Math.max(SHORTEST_LONG, limit * LONGEST_PART);
  const mass = { count: 0, first: 0, second: 0, third: 0 };
  for (const tokens of SUPPOSED) addTo(mass, Math.min(tokens, longest));
  return mass;
}

function addTo(mass: Mass, tokens: number): void {
  mass.count++;
  mass.first += tokens;
  mass.second += tokens ** 2;
  mass.third += tokens ** 3;
}
