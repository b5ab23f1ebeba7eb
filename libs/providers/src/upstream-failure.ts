import type { ObservedLimits } from '@spillway/contracts';

export type FailureKind =
  | 'requests'
  | 'tokens'
  | 'inflight'
  | 'slope'
  | 'overloaded'
  | 'rate-limit'
  | 'quota'
  | 'auth'
  | 'billing'
  | 'unknown-model'
  | 'context-length'
  | 'caller-fault'
  | 'server'
  | 'timeout'
  | 'network'
  | 'protocol'
  | 'empty'
  | 'truncated'
  | 'stream-error';

export type TimeLimit = 'total' | 'first-token' | 'idle';

/** What a failure says when a whole chain has failed. */
export type FailureFamily = 'refusal' | 'busy' | 'timeout' | 'broken' | 'credentials';

/**
 * What a failure says about the health of its model: nothing (the caller was at fault, or the model is busy), that a
 * call failed, or that calling again cannot help before somebody acts.
 */
export type HealthEffect = 'none' | 'failure' | 'bar';

/** What a model said, cleared of secrets and never HTML, so that it may be passed on to the caller. */
export interface FailureAnswer {
  readonly status: number;
  readonly text: string;
  readonly contentType: string;
}

interface KindTraits {
  readonly movesOn: boolean;
  readonly family: FailureFamily;
  readonly health: HealthEffect;
}

const BUSY: KindTraits = { movesOn: true, family: 'busy', health: 'none' };
const BROKEN: KindTraits = { movesOn: true, family: 'broken', health: 'failure' };

/** The one table of what each kind means for the walk along the chain, for what its caller is told, and for health. */
const TRAITS = {
  requests: BUSY,
  tokens: BUSY,
  inflight: BUSY,
  slope: BUSY,
  overloaded: BUSY,
  'rate-limit': BUSY,
  quota: { movesOn: true, family: 'busy', health: 'bar' },
  auth: { movesOn: true, family: 'credentials', health: 'bar' },
  billing: { movesOn: true, family: 'credentials', health: 'bar' },
  'unknown-model': { movesOn: false, family: 'refusal', health: 'bar' },
  'context-length': { movesOn: true, family: 'refusal', health: 'none' },
  'caller-fault': { movesOn: false, family: 'refusal', health: 'none' },
  timeout: { movesOn: true, family: 'timeout', health: 'failure' },
  server: BROKEN,
  network: BROKEN,
  protocol: BROKEN,
  empty: BROKEN,
  truncated: BROKEN,
  'stream-error': BROKEN,
} as const satisfies Readonly<Record<FailureKind, KindTraits>>;

interface FailureDetails {
  readonly status?: number | null;
  readonly retryAfterMs?: number | null;
  readonly limits?: ObservedLimits | null;
  readonly answer?: FailureAnswer | null;
  readonly timeLimit?: TimeLimit | null;
  readonly cause?: unknown;
}

/** One call of a model that failed. Its message names statuses and codes only: no prompt, no key, no address. */
export class UpstreamFailure extends Error {
  /** The status of the model, or the one it named in a 200; null: there was no answer. */
  readonly status: number | null;
  /** Milliseconds the model asked to be left alone; null: it did not say. */
  readonly retryAfterMs: number | null;
  /** What the answer told of the limits of the model; null: nothing. */
  readonly limits: ObservedLimits | null;
  /** The model's own answer, where it gave one. */
  readonly answer: FailureAnswer | null;
  /** Which limit a `timeout` broke; null: the model itself gave up. */
  readonly timeLimit: TimeLimit | null;

  constructor(
    readonly kind: FailureKind,
    message: string,
    details: FailureDetails = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'UpstreamFailure';
    this.status = details.status ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.limits = details.limits ?? null;
    this.answer = details.answer ?? null;
    this.timeLimit = details.timeLimit ?? null;
  }

  /** Whether another model may still answer the call. */
  get movesOn(): boolean {
    return TRAITS[this.kind].movesOn;
  }

  get family(): FailureFamily {
    return TRAITS[this.kind].family;
  }

  get health(): HealthEffect {
    return TRAITS[this.kind].health;
  }
}
