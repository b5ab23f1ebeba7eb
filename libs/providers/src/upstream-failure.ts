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

/** How long a model should be left alone: not at all, for the time of a rate limit, or until somebody acts. */
export type Rest = 'none' | 'short' | 'long';

/** What a model said, cleared of secrets and never HTML, so that it may be passed on to the caller. */
export interface FailureAnswer {
  readonly status: number;
  readonly text: string;
  readonly contentType: string;
}

interface KindTraits {
  readonly movesOn: boolean;
  readonly rests: Rest;
}

const TRAITS: Readonly<Record<FailureKind, KindTraits>> = {
  requests: { movesOn: true, rests: 'short' },
  tokens: { movesOn: true, rests: 'short' },
  inflight: { movesOn: true, rests: 'short' },
  slope: { movesOn: true, rests: 'short' },
  overloaded: { movesOn: true, rests: 'short' },
  'rate-limit': { movesOn: true, rests: 'short' },
  quota: { movesOn: true, rests: 'long' },
  auth: { movesOn: true, rests: 'long' },
  billing: { movesOn: true, rests: 'long' },
  'context-length': { movesOn: true, rests: 'none' },
  'caller-fault': { movesOn: false, rests: 'none' },
  server: { movesOn: true, rests: 'none' },
  timeout: { movesOn: true, rests: 'none' },
  network: { movesOn: true, rests: 'none' },
  protocol: { movesOn: true, rests: 'none' },
  empty: { movesOn: true, rests: 'none' },
  truncated: { movesOn: true, rests: 'none' },
  'stream-error': { movesOn: true, rests: 'none' },
};

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

  /** How long the model should rest after this. */
  get rests(): Rest {
    return TRAITS[this.kind].rests;
  }
}
