/** Buckets grow by a fourth of an octave, so a quantile is right within a few percent; the last holds 2^20. */
const BUCKETS_PER_OCTAVE = 4;
const BUCKETS = 20 * BUCKETS_PER_OCTAVE + 1;

/** At this many values all weights are halved, so that the last few hundred decide. */
const MEMORY = 512;

/** How large values were (tokens, milliseconds), in exponential buckets: constant memory, the old forgotten. */
export class Histogram {
  private readonly weights = new Float32Array(BUCKETS);
  private total = 0;

  /** Values that it knows of, old ones counting less. */
  get count(): number {
    return this.total;
  }

  /** True: the weights of all earlier values were halved for it. */
  add(value: number): boolean {
    const isFull = this.total >= MEMORY;
    if (isFull) this.forgetHalf();
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.ceil(Math.log2(value) * BUCKETS_PER_OCTAVE)));
    this.weights[bucket] = (this.weights[bucket] ?? 0) + 1;
    this.total++;
    return isFull;
  }

  /** What this share of the values did not exceed; 0 when there are none. */
  quantile(share: number): number {
    let left = Math.min(this.total, share * (this.total + 1));
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const weight = this.weights[bucket] ?? 0;
      if (weight > 0 && left <= weight) return edge(bucket - 1 + left / weight);
      left -= weight;
    }
    return this.total > 0 ? edge(BUCKETS - 1) : 0;
  }

  private forgetHalf(): void {
    for (let bucket = 0; bucket < BUCKETS; bucket++) this.weights[bucket] = (this.weights[bucket] ?? 0) / 2;
    this.total /= 2;
  }
}

/** The largest value of a bucket. */
function edge(bucket: number): number {
  return 2 ** (bucket / BUCKETS_PER_OCTAVE);
}
