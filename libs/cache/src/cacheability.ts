import { isJsonObject, type Answer, type Call, type JsonObject, type JsonValue } from '@spillway/contracts';

/** Ends of an answer that says all it had to say. */
const COMPLETE = new Set<unknown>(['stop', 'tool_calls', 'function_call']);

/** Who does not want an exact answer to be looked up for this call; null: it may be. */
export function refusalOfExact({ operation, route, controls }: Call): 'operation' | 'route' | 'caller' | null {
  if (operation !== 'chat') return 'operation';
  if (!route.cache.exact) return 'route';
  return controls.cacheLevel === 'off' || !controls.cacheRead ? 'caller' : null;
}

/** Whether an answer to this call may be kept. */
export function mayWriteExact(call: Call): boolean {
  return isExactAllowed(call) && call.controls.cacheWrite && ttlMsOf(call) > 0;
}

/** Whether answers to other questions may be looked up for this call, if only to say what would have been found. */
export function mayReadSimilar(call: Call): boolean {
  return isSimilarAllowed(call) && call.controls.cacheRead;
}

/** Whether an answer to this call may be kept for other questions. */
export function mayWriteSimilar(call: Call): boolean {
  return isSimilarAllowed(call) && call.controls.cacheWrite && ttlMsOf(call) > 0;
}

/** Whether the route answers from the answers to other questions, rather than only look for them. */
export function answersSimilar({ route }: Call): boolean {
  return route.cache.semantic === true;
}

/** Milliseconds that an answer to this call is kept. */
export function ttlMsOf(call: Call): number {
  return 1000 * (call.controls.cacheTtlS ?? call.route.cache.ttl_s);
}

/** Milliseconds that an expired answer to this call may still be served, when nothing else can answer. */
export function staleMsOf({ route }: Call): number {
  return 1000 * route.stale_if_error_s;
}

/** Whether this is the model's own answer: one of a fallback must be gone when the model is back. */
export function isFirstHand(call: Call, answer: Answer): boolean {
  return answer.outcome === 'generated' && call.journal.degraded === null;
}

/** Whether a completion is whole and says something: not cut short, filtered, refused or empty. */
export function isWorthKeeping(body: JsonObject): boolean {
  const choices = body['choices'];
  return isNothing(body['error']) && Array.isArray(choices) && choices.length > 0 && choices.every(isCompleteChoice);
}

function isExactAllowed({ operation, route, controls }: Call): boolean {
  return operation === 'chat' && route.cache.exact && controls.cacheLevel !== 'off';
}

/**
 * A caller who wants the exact cache at most gets and leaves nothing that other words might find. A route without the
 * exact cache keeps nothing under a key, of whatever kind.
 */
function isSimilarAllowed({ operation, route, controls }: Call): boolean {
  const { cacheLevel } = controls;
  const isOn = route.cache.exact && route.cache.semantic !== false;
  return operation === 'chat' && isOn && cacheLevel !== 'off' && cacheLevel !== 'exact';
}

function isCompleteChoice(choice: JsonValue): boolean {
  if (!isJsonObject(choice) || !COMPLETE.has(choice['finish_reason'])) return false;
  const message = choice['message'];
  return isJsonObject(message) && isNothing(message['refusal']) && ANSWERS.some(field => !isNothing(message[field]));
}

/** Where a message may say something; reasoning alone is no answer. */
const ANSWERS = ['content', 'tool_calls', 'function_call', 'audio'] as const;

function isNothing(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  return Array.isArray(value) && value.length === 0;
}
