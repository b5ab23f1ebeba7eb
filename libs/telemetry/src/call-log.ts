import { hash } from 'node:crypto';
import {
  isJsonObject,
  type CallEnd,
  type CallIdentity,
  type Decision,
  type IncomingCall,
  type JsonObject,
} from '@spillway/contracts';
import { SharedFields, type Logger } from './logger';
import type { ResponseDigest } from './response-digest';

/** Writes the one line that every call leaves behind; docs/operations.md names its fields. */
export class CallLog {
  constructor(
    private readonly logger: Pick<Logger, 'info'>,
    private readonly snippets: () => boolean,
  ) {}

  write({ id, traceId }: CallIdentity, durationMs: number, facts: SharedFields): void {
    this.logger.info({ request_id: id, trace_id: traceId, duration_ms: Math.round(durationMs) }, undefined, facts);
  }

  /** All that the lines of calls that end alike have in common. */
  factsOf(call: IncomingCall, { outcome, status, code }: CallEnd, response: ResponseDigest): SharedFields {
    const { journal } = call;
    const { resemblance } = journal;
    const digest = journal.digest ?? response.finish();
    return new SharedFields({
      key: call.caller.name,
      operation: call.operation,
      route: journal.route,
      priority: journal.priority,
      outcome,
      status,
      code,
      cache: journal.cache,
      cache_tier: journal.cacheTier,
      cache_rule: journal.cacheRule,
      // Of the question asked before that was served, or came nearest.
      similarity: resemblance === null ? null : Number(resemblance.score.toFixed(4)),
      similarity_reason: resemblance?.reason ?? null,
      similarity_fate: resemblance?.fate ?? null,
      model: journal.model,
      attempts: journal.attempts,
      failures: failuresOf(journal.decisions),
      hedge: journal.hedge,
      queue_ms: Math.round(journal.queueMs),
      upstream_ms: journal.upstreamMs === null ? null : Math.round(journal.upstreamMs),
      tokens: journal.usage,
      prompt_hash: hashOf(promptOf(call.body)),
      response_hash: digest?.hash ?? null,
      response_snippet: digest !== null && this.snippets() ? digest.snippet : undefined,
    });
  }
}

/** The kind of failure of each model that failed; a model is asked once for a call. */
function failuresOf(decisions: readonly Decision[]): Readonly<Record<string, string>> | undefined {
  const failures: Record<string, string> = {};
  let failed = false;
  for (const decision of decisions) {
    if (decision.kind !== 'attempt' || decision.failure === null) continue;
    failures[decision.model] = decision.failure;
    failed = true;
  }
  return failed ? failures : undefined;
}

/** The first 16 hexadecimal digits of SHA-256. */
function hashOf(text: string): string {
  return hash('sha256', text).slice(0, 16);
}

/** The text of the last user message, or the input of an embedding. */
function promptOf(body: JsonObject): string {
  const { messages, input } = body;
  if (!Array.isArray(messages)) return typeof input === 'string' ? input : JSON.stringify(input ?? '');
  const last: unknown = messages.findLast(message => isJsonObject(message) && message['role'] === 'user');
  const content = isJsonObject(last) ? last['content'] : undefined;
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}
