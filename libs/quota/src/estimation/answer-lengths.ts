import { Histogram } from '../histogram';

/** At this many answers all weights are halved, so that the last few hundred decide. */
const MEMORY = 512;

/** Lengths of answers that are supposed while few are known, each as if it had been seen twice. */
const SUPPOSED = [128, 256, 512, 1024, 2048];
const TIMES_SUPPOSED = 2;
/** What is supposed counts less with every answer that is known, and no more from here on. */
const ENOUGH = 200;
/** What is supposed is never longer than a small part of a limit, or this: a limit must hold more than a few calls. */
const SHORTEST_LONG = 512;
const LONGEST_PART = 1 / 64;

/** Standard deviations between what is expected of all answers under way together and what is reserved for them. */
const DEVIATIONS = 3.5;

/** The answers that share a limit on tokens with each other. */
export interface AnswersUnderWay {
  /** Tokens a minute. */
  readonly limit: number;
  /** How many are under way while the limit is used up, at least 1. */
  readonly count: number;
}

/** Moments of answers, as sums of powers of their lengths. */
interface Powers {
  first: number;
  second: number;
  third: number;
}

/** How long the answers to calls of one kind were, the old forgotten. */
export class AnswerLengths {
  private readonly histogram = new Histogram();
  private readonly sums: Powers = { first: 0, second: 0, third: 0 };
  private weight = 0;

  /** Answers that it knows of, old ones counting less. */
  get count(): number {
    return this.weight;
  }

  /** Takes in the length of an answer, in tokens. */
  add(tokens: number): void {
    if (this.weight >= MEMORY) this.forgetHalf();
    this.weight++;
    addTo(this.sums, tokens, 1);
    this.histogram.add(tokens);
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
  reserve(underWay: AnswersUnderWay): number {
    const { first, second, third } = this.withSupposed(underWay.limit);
    const mean = second / first;
    const deviation = Math.sqrt(Math.max(0, third / first - mean * mean));
    return mean + (DEVIATIONS * deviation) / Math.sqrt(underWay.count);
  }

  private withSupposed(limit: number): Powers {
    const sums = { first: this.sums.first, second: this.sums.second, third: this.sums.third };
    const times = TIMES_SUPPOSED * Math.max(0, 1 - this.weight / ENOUGH);
    if (times === 0) return sums;
    const longest = Math.max(SHORTEST_LONG, limit * LONGEST_PART);
    for (const tokens of SUPPOSED) addTo(sums, Math.min(tokens, longest), times);
    return sums;
  }

  private forgetHalf(): void {
    this.weight /= 2;
    this.sums.first /= 2;
    this.sums.second /= 2;
    this.sums.third /= 2;
  }
}

function addTo(sums: Powers, tokens: number, times: number): void {
  sums.first += times * tokens;
  sums.second += times * tokens ** 2;
  sums.third += times * tokens ** 3;
}
