/** How an in-flight limit follows the latency of its model. */
export interface AdaptiveSettings {
  /** Latency over its baseline up to which the limit may grow. */
  readonly tolerance: number;
  /** Queue that is allowed at the model, times the root of the limit: enough to notice that there is room for more. */
  readonly queue: number;
  /** Share of the way to the new limit that one move goes. */
  readonly smoothing: number;
  readonly least: number;
  /** A limit that would be larger is none. */
  readonly most: number;
  /** Latency over its baseline, twice in a row, from which there is a limit at all. */
  readonly bindAt: number;
  /** Calls at the same time below which there is never a reason for a limit. */
  readonly bindFrom: number;
  /** Share of failed calls above which the limit falls, and to which part of itself. */
  readonly dropRatio: number;
  readonly dropFactor: number;
  /** Milliseconds between two moves: at least, and at most however long calls take. */
  readonly everyMs: number;
  readonly longestMs: number;
  /** Calls that a move looks at, at least. */
  readonly calls: number;
  /** Calls from which a baseline is trusted. */
  readonly baselineCalls: number;
  /** Milliseconds in which a baseline follows a latency that rose, and one that fell. */
  readonly riseMs: number;
  readonly fallMs: number;
  /** What is faster counts as this fast, ms: below it, it is this process that is measured and not the model. */
  readonly floorMs: number;
  /** After so many ms in which it was not needed a limit is lifted. */
  readonly liftMs: number;
}

/** Gradient2 of Netflix' concurrency-limits, with the drop rule of AIMD, for calls that take seconds. */
export const ADAPTIVE: AdaptiveSettings = {
  tolerance: 1.1,
  queue: 0.4,
  smoothing: 0.5,
  least: 1,
  most: 1000,
  bindAt: 2,
  bindFrom: 4,
  dropRatio: 0.1,
  dropFactor: 0.9,
  everyMs: 1000,
  longestMs: 10_000,
  calls: 10,
  baselineCalls: 50,
  riseMs: 600_000,
  fallMs: 20_000,
  floorMs: 100,
  liftMs: 600_000,
};
