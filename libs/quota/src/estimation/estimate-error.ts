import { runningMean } from './running-mean';

/** How well the estimates of a model did lately. */
export interface EstimateError {
  /** Calls with a reported usage, ever. */
  readonly calls: number;
  /** Mean absolute error of the input estimate, as a share of what was reported. */
  readonly input: number;
  /** Share of the calls that used more tokens than were reserved. */
  readonly exceeded: number;
}

export const NO_ERROR_YET: EstimateError = { calls: 0, input: 0, exceeded: 0 };

/** The averages after one more call. */
export function withCall(before: EstimateError, input: number, exceeded: boolean): EstimateError {
  const calls = before.calls + 1;
  return {
    calls,
    input: runningMean(before.input, input, calls),
    exceeded: runningMean(before.exceeded, Number(exceeded), calls),
  };
}
