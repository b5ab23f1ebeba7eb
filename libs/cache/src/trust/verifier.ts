/** Of a step; each weight then slows down by what it has moved so far. */
const RATE = 0.3;
/** Pulls weights that nothing supports back to nothing. */
const DECAY = 1e-4;
/** Of the squares of gradients, so that the first step is finite. */
const START = 1e-2;
/** Labels that are kept to be learned from again. */
const REMEMBERED = 5_000;

interface Example {
  readonly features: readonly number[];
  readonly same: boolean;
}

/**
 * Says how probable it is that one answer serves two questions: a logistic model that learns from each judgement as it
 * comes (AdaGrad: Duchi, Hazan, Singer 2011), and once more from an older one, so that early labels keep counting.
 */
export class Verifier {
  private weights: Float64Array | null = null;
  private squares = new Float64Array(0);
  private readonly remembered: Example[] = [];
  private learned = 0;

  /** `prior`: what is believed before anything is learned, a weight for each feature; empty: nothing. */
  constructor(private readonly prior: readonly number[] = []) {}

  /** 0 to 1; 0 where nothing was learned or believed before. */
  probability(features: readonly number[]): number {
    const weights = this.weights ?? this.prior;
    if (weights.length === 0) return 0;
    let sum = 0;
    for (let index = 0; index < weights.length; index++) sum += (weights[index] ?? 0) * (features[index] ?? 0);
    return 1 / (1 + Math.exp(-sum));
  }

  learn(features: readonly number[], same: boolean): void {
    this.step({ features, same });
    const older = this.remembered[spread(this.learned) % Math.max(1, this.remembered.length)];
    if (older !== undefined) this.step(older);
    this.remembered[this.learned % REMEMBERED] = { features, same };
    this.learned += 1;
  }

  private step({ features, same }: Example): void {
    this.weights ??= Float64Array.from(features, (_, index) => this.prior[index] ?? 0);
    if (this.squares.length === 0) this.squares = new Float64Array(features.length).fill(START);
    const { weights, squares } = this;
    const error = this.probability(features) - (same ? 1 : 0);
    for (let index = 0; index < weights.length; index++) {
      const weight = weights[index] ?? 0;
      const gradient = error * (features[index] ?? 0) + DECAY * weight;
      const square = (squares[index] ?? START) + gradient * gradient;
      squares[index] = square;
      weights[index] = weight - (RATE * gradient) / Math.sqrt(square);
    }
  }
}

/** A number for each number, without order: processes that learn the same come to the same. */
function spread(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
