import type { JsonObject, JsonValue } from '@spillway/contracts';
import type { Job } from './job';

/** A job as its caller sees it, by `GET /v1/jobs/ID` and in a callback. */
export function jobView({ id, status, createdAt, result, error }: Job): JsonObject {
  const seen = { id, status, created_at: Math.floor(createdAt / 1000) };
  switch (status) {
    case 'succeeded':
      return { ...seen, response: result };
    case 'failed':
      return { ...seen, error: error as JsonValue };
    case 'queued':
    case 'running':
    case 'cancelled':
      return seen;
    default:
      return status satisfies never;
  }
}
