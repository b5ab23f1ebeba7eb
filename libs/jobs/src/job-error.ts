import { RefusedByModel, isJsonObject, type JsonValue, type SpillwayError } from '@spillway/contracts';
import type { JobError } from './job';

/** What is told of a failure: a model's own refusal in its own words. */
export function jobError(error: SpillwayError): JobError {
  const ours = error.body().error;
  if (!(error instanceof RefusedByModel)) return ours;
  const theirs = refusalIn(error.text);
  return typeof theirs?.['message'] === 'string' ? { ...ours, message: theirs['message'], ...namesIn(theirs) } : ours;
}

function refusalIn(text: string): Readonly<Record<string, JsonValue | undefined>> | null {
  try {
    const body: unknown = JSON.parse(text);
    return isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : null;
  } catch {
    return null;
  }
}

function namesIn(theirs: Readonly<Record<string, JsonValue | undefined>>): Partial<JobError> {
  const names = ['type', 'param', 'code'].filter(name => typeof theirs[name] === 'string');
  return Object.fromEntries(names.map(name => [name, theirs[name]]));
}
