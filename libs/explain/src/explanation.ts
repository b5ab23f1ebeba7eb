import type { CallerLimit, Decision, IncomingCall, Journal, Outcome, Usage } from '@spillway/contracts';

/** How a call ended. */
export interface CallEnd {
  readonly outcome: Outcome;
  /** The status that the caller was sent; 499 where it had left before. */
  readonly status: number;
  /** Of the error that ended it; null: it was answered. */
  readonly code: string | null;
  /** Milliseconds since receipt. */
  readonly durationMs: number;
}

/** What is known of a call without its body: what came of it is in its journal. */
export type CallFacts = Pick<IncomingCall, 'id' | 'traceId' | 'operation' | 'streaming' | 'receivedAt' | 'journal'> & {
  /** The configured name of the key. */
  readonly key: string;
};

/** Why a call went where it went: no prompt, no answer, no key. Times are in milliseconds. */
export interface Explanation {
  readonly requestId: string;
  readonly traceId: string;
  readonly receivedAt: string;
  readonly operation: string;
  readonly streaming: boolean;
  readonly key: string;
  readonly route: string | null;
  readonly priority: string | null;
  /** `under-way`: it has not ended yet. */
  readonly outcome: Outcome | 'under-way';
  readonly status: number | null;
  readonly code: string | null;
  readonly durationMs: number;
  readonly cache: { readonly status: string; readonly tier: string | null; readonly ageS: number | null };
  readonly model: string | null;
  readonly attempts: number;
  readonly queueMs: number;
  readonly degraded: string | null;
  readonly tokens: Usage | null;
  readonly saved: Usage | null;
  readonly callerLimits: { readonly requests: CallerLimit | null; readonly tokens: CallerLimit | null } | null;
  /** In the order in which they were made. */
  readonly decisions: readonly object[];
}

/** `now`: milliseconds since the epoch, for a call under way. */
export function explanationOf(call: CallFacts, end: CallEnd | null, now: number): Explanation {
  const { id, traceId, receivedAt, operation, streaming, key, journal } = call;
  return {
    requestId: id,
    traceId,
    receivedAt: new Date(receivedAt).toISOString(),
    operation,
    streaming,
    key,
    outcome: end?.outcome ?? 'under-way',
    status: end?.status ?? null,
    code: end?.code ?? null,
    durationMs: rounded(end?.durationMs ?? now - receivedAt),
    ...told(journal),
    decisions: journal.decisions.map(plain),
  };
}

function told(journal: Journal) {
  const { route, priority, cache, cacheTier, ageS, model, attempts, queueMs } = journal;
  const { degraded, usage, saved, callerLimits } = journal;
  return {
    route,
    priority,
    cache: { status: cache, tier: cacheTier, ageS },
    model,
    attempts,
    queueMs: rounded(queueMs),
    degraded,
    tokens: usage,
    saved,
    callerLimits,
  };
}

/** As people read it: without what does not apply, with rounded times. */
function plain(decision: Decision): object {
  const fields = Object.entries(decision).filter(([, value]) => value !== null);
  return Object.fromEntries(fields.map(([name, value]: [string, unknown]) => [name, roundedIfTime(name, value)]));
}

function roundedIfTime(name: string, value: unknown): unknown {
  return typeof value === 'number' && /ms$/i.test(name) ? rounded(value) : value;
}

/** Tenths of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
