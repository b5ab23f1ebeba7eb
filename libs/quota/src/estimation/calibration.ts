import { INPUT_CLASSES, type InputMeasure } from './input-measure';

/** One report moves the estimate by at most a factor e, so that an odd one does no harm. */
const LARGEST_STEP = 1;
const LARGEST_FACTOR = 16;

/** As many reports as the past counts for: the newest keeps a weight of one in fifty. */
const MEMORY = 50;

/** What the factor 1 counts for at the start; with less, several classes would correct the same error in full. */
const PRIOR_EVIDENCE = 0.25;

/**
 * Corrects estimates of one model by what it reports: a factor for each class of text. A report tells only the sum,
 * so its error is spread over the classes by their share in the call, and a class about which much is known moves
 * less. Thus a factor is the running geometric mean of the error in calls of its class, and a mixture of languages
 * does not pull one factor to and fro. Constant memory.
 */
export class Calibration {
  private readonly factors = new Float64Array(INPUT_CLASSES.length).fill(1);
  private readonly evidence = new Float64Array(INPUT_CLASSES.length);

  /** The corrected estimate, in whole tokens. */
  apply(measure: InputMeasure): number {
    return measure.total(this.factors);
  }

  /** Takes in the input tokens that the model reported; a report that cannot be true is left out. */
  learn(measure: InputMeasure, reported: number): void {
    if (!Number.isFinite(reported) || reported <= 0) return;
    const parts = measure.tokens.map((tokens, index) => tokens * (this.factors[index] ?? 1));
    const sum = parts.reduce((total, part) => total + part, 0);
    if (sum <= 0) return;
    const error = clamp(Math.log(reported / sum), LARGEST_STEP);
    parts.forEach((part, index) => this.move(index, part / sum, error));
  }

  private move(index: number, share: number, error: number): void {
    const evidence = Math.min((this.evidence[index] ?? 0) + share * share, MEMORY);
    this.evidence[index] = evidence;
    const moved = Math.log(this.factors[index] ?? 1) + (share * error) / (evidence + PRIOR_EVIDENCE);
    this.factors[index] = Math.exp(clamp(moved, Math.log(LARGEST_FACTOR)));
  }
}

function clamp(value: number, bound: number): number {
  return Math.max(-bound, Math.min(bound, value));
}
