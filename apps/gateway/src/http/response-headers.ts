import type { ServerResponse } from 'node:http';
import type { AnswerPart, CallerLimit, Journal, Outcome, SpillwayError } from '@spillway/contracts';

export type Headers = Record<string, string>;

const SIMILARITY_DIGITS = 4;
const JSON_BODY = { 'content-type': 'application/json; charset=utf-8' };

/** The contract's headers of an answer that is sent `now`, from what the call's journal knows. */
export function answerHeaders(requestId: string, journal: Journal, outcome: Outcome, now: number): Headers {
  const headers = sharedHeaders(journal, outcome);
  headers['x-request-id'] = requestId;
  const ageS = journal.ageS(now);
  if (ageS !== null) headers['age'] = String(ageS);
  return headers;
}

/** Those of them that answers to equal calls share. */
function sharedHeaders(journal: Journal, outcome: Outcome): Headers {
  const headers: Headers = {
    'x-spillway-outcome': outcome,
    'x-spillway-cache': journal.cache,
    'x-spillway-attempts': String(journal.attempts),
    'x-spillway-queue-ms': String(Math.round(journal.queueMs)),
  };
  if (journal.priority !== null) headers['x-spillway-priority'] = journal.priority;
  if (journal.requestedPriority !== null) headers['x-spillway-priority-requested'] = journal.requestedPriority;
  if (journal.model !== null) headers['x-spillway-model'] = headerSafe(journal.model);
  if (journal.cacheTier !== null) headers['x-spillway-cache-tier'] = journal.cacheTier;
  if (journal.resemblance?.fate === 'served') {
    headers['x-spillway-similarity'] = journal.resemblance.score.toFixed(SIMILARITY_DIGITS);
  }
  if (journal.degraded !== null) headers['x-spillway-degraded'] = journal.degraded;
  if (journal.limitsAreLocal) headers['x-spillway-limits'] = 'local';
  if (journal.callerLimits !== null) {
    tellLimit(headers, 'requests', journal.callerLimits.requests);
    tellLimit(headers, 'tokens', journal.callerLimits.tokens);
  }
  return headers;
}

/** The headers of a whole answer's body. */
export function wholeHeaders({ json, bytes = Buffer.byteLength(json) }: AnswerPart): Headers {
  return { ...JSON_BODY, 'content-length': String(bytes) };
}

/** Sends a whole answer's body, of which each byte is a letter where there are as many letters: that is sent sooner. */
export function endWith({ json, bytes }: AnswerPart, response: ServerResponse): void {
  response.end(json, bytes === json.length ? 'latin1' : 'utf8');
}

/**
 * What is sent before the answers to equal calls, names and values in turn: a server writes that soonest. `others`:
 * headers beside those of the contract.
 */
export class SharedHead {
  private readonly lines: readonly string[];

  constructor(
    private readonly journal: Journal,
    outcome: Outcome,
    others: Headers,
  ) {
    this.lines = Object.entries({ ...others, ...sharedHeaders(journal, outcome), ...JSON_BODY }).flat();
  }

  /** All of it for one call whose answer is sent `now`. */
  of(requestId: string, { json, bytes = Buffer.byteLength(json) }: AnswerPart, now: number): string[] {
    const head = [...this.lines, 'content-length', String(bytes), 'x-request-id', requestId];
    const ageS = this.journal.ageS(now);
    if (ageS !== null) head.push('age', String(ageS));
    return head;
  }
}

function tellLimit(headers: Headers, what: 'requests' | 'tokens', limit: CallerLimit | null): void {
  if (limit === null) return;
  headers[`x-ratelimit-limit-${what}`] = String(limit.limit);
  headers[`x-ratelimit-remaining-${what}`] = String(limit.remaining);
  headers[`x-ratelimit-reset-${what}`] = durationOf(limit.resetMs);
}

/** As OpenAI writes it: `250ms`, `12s`, `6m0s`. */
function durationOf(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

/** Statuses that always say when to come back; others do where a provider said so. */
const ENDS_SOON = [429, 503, 504];
const DEFAULT_RETRY_AFTER_MS = 1_000;

/** The same for an error, with when and whether to ask again; a client that retries does so after our own walk. */
export function errorHeaders(requestId: string, journal: Journal, error: SpillwayError): Headers {
  const headers = sharedHeaders(journal, error.outcome);
  headers['x-request-id'] = requestId;
  if (error.retryAfterMs !== null || ENDS_SOON.includes(error.status)) {
    const waitMs = Math.max(1, Math.ceil(error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS));
    headers['retry-after'] = String(Math.ceil(waitMs / 1000));
    headers['retry-after-ms'] = String(waitMs);
  }
  headers['x-should-retry'] = String(error.retryable && error.status >= 429 && journal.attempts <= 1);
  return headers;
}

/** Header values carry printable ASCII only; anything else is percent-encoded as UTF-8. */
function headerSafe(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
