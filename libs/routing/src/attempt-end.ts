import { isJsonObject, type JsonObject, type JsonValue, type TurnEnd, type Usage } from '@spillway/contracts';
import type { Finding } from '@spillway/health';
import { UpstreamFailure } from '@spillway/providers';

/** Another model, asked for the same call, has answered before this one. */
export class Outrun extends Error {
  override readonly name = 'Outrun';
}

/** What the end of a call says about the health of its model. */
export function findingOf(end: TurnEnd, failure: UpstreamFailure | null): Finding {
  if (failure === null) return end === 'success' ? { kind: 'counted', weight: 0 } : { kind: 'untold' };
  const { health } = failure;
  switch (health.effect) {
    case 'none':
      return { kind: 'untold' };
    case 'failure':
      return { kind: 'counted', weight: 1 };
    case 'bar':
      return { kind: 'barred', why: health.why };
    default:
      return health satisfies never;
  }
}

export const NOTHING: Usage = { input: 0, output: 0 };

/** Whether a provider refused the call with a status of its own, before its model worked. */
export function wasRefused(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.status !== null && error.status >= 400;
}

/** A caller that left or a fault of its own says nothing about the model. */
export function endOf(failure: UpstreamFailure | null): TurnEnd {
  return failure === null || failure.family === 'refusal' ? 'ignored' : 'dropped';
}

/** As the metric `ai_request_total` has it. */
export function statusOf(error: unknown): string {
  if (error instanceof Outrun) return 'outrun';
  if (!(error instanceof UpstreamFailure)) return 'aborted';
  return error.status === null || error.status === 200 ? error.kind : String(error.status);
}

/** What no call can use; a provider that says so counts wrongly. */
const MOST_TOKENS = 100_000_000;

/** Null where an answer tells nothing, or nothing that can be: what was estimated then counts. */
export function usageOf(body: JsonObject): Usage | null {
  const usage = body['usage'];
  if (!isJsonObject(usage)) return null;
  const { prompt_tokens: input, completion_tokens } = usage;
  // Answers of embeddings name none.
  const output = completion_tokens ?? 0;
  return areTokens(input) && areTokens(output) ? { input, output } : null;
}

function areTokens(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= MOST_TOKENS;
}
