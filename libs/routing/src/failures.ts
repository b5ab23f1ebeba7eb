import {
  NoModelAvailable,
  RefusedByModel,
  SpillwayError,
  UpstreamAuthError,
  UpstreamError,
  UpstreamTimeout,
  type ModelSettings,
} from '@spillway/contracts';
import type { FailureFamily, UpstreamFailure } from '@spillway/providers';

export interface FailedModel {
  readonly model: ModelSettings;
  readonly failure: UpstreamFailure;
}

/** The models still worth asking after one has failed: never the same again, and a larger one for a long prompt. */
export function remainingAfter(
  models: readonly ModelSettings[],
  { model, failure }: FailedModel,
): readonly ModelSettings[] {
  const { successor } = failure;
  const others = models.filter(candidate => candidate !== model);
  switch (successor) {
    case 'any':
      return others;
    case 'larger': {
      const { context_window: tooSmall = 0 } = model;
      return others.filter(({ context_window: size }) => size === undefined || size > tooSmall);
    }
    case 'nobody':
      return [];
    default:
      return successor satisfies never;
  }
}

/** When all have failed, the family that makes a later try most sensible speaks for the whole walk. */
const MOST_TELLING: readonly FailureFamily[] = ['refusal', 'busy', 'timeout', 'broken', 'credentials'];

/** What the caller is told after a walk along the chain in which every model failed; `failed` is not empty. */
export function verdict(failed: readonly FailedModel[]): SpillwayError {
  const failures = failed.map(({ failure }) => failure);
  const family = MOST_TELLING.find(candidate => failures.some(one => one.family === candidate)) ?? 'broken';
  const told = failures.filter(one => one.family === family);
  const last = told.at(-1);
  const waits = told.flatMap(({ retryAfterMs }) => (retryAfterMs === null ? [] : [retryAfterMs]));
  const details = { retryAfterMs: waits.length > 0 ? Math.min(...waits) : null, cause: last };
  switch (family) {
    case 'refusal':
      return last?.answer
        ? new RefusedByModel(last.answer.status, last.answer.text, last.answer.contentType)
        : new UpstreamError('The model refused the request.', details);
    case 'busy':
      return new NoModelAvailable('No model can take this call now.', {
        ...details,
        retryable: told.some(({ passes }) => passes),
      });
    case 'timeout':
      return new UpstreamTimeout('The model did not answer in time.', details);
    case 'broken':
      return new UpstreamError('The model failed to answer.', details);
    case 'credentials':
      return new UpstreamAuthError("The model's provider refused this router's credentials.", {
        ...details,
        retryable: false,
      });
    default:
      return family satisfies never;
  }
}
