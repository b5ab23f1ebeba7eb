import type {
  CallEnd,
  CallerLimit,
  CallIdentity,
  Decision,
  IncomingCall,
  Journal,
  Outcome,
  Usage,
} from '@spillway/contracts';

/** What is known of a call without its body, but for its identity: equal calls share it. */
export interface CallFacts extends Pick<IncomingCall, 'operation' | 'streaming' | 'journal'> {
  /** The configured name of the key. */
  readonly key: string;
  /** Null: it is under way. */
  readonly end: CallEnd | null;
}

export function factsOf({ operation, streaming, journal, caller }: IncomingCall, end: CallEnd | null): CallFacts {
  return { operation, streaming, journal, key: caller.name, end };
}

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

/** `durationMs`: from its receipt on, until it ended or until now. */
export function explanationOf(call: CallIdentity, facts: CallFacts, durationMs: number): Explanation {
  const { id, traceId, receivedAt } = call;
  const { operation, streaming, key, journal, end } = facts;
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
    durationMs: rounded(durationMs),
    ...told(journal, receivedAt + durationMs),
    decisions: journal.decisions.map(plain),
  };
}

function told(journal: Journal, now: number) {
  const { route, priority, cache, cacheTier, model, attempts, queueMs } = journal;
  const { degraded, usage, saved, callerLimits } = journal;
  return {
    route,
    priority,
    cache: { status: cache, tier: cacheTier, ageS: journal.ageS(now) },
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
