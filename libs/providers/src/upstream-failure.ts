import type { ObservedLimits, Overload } from '@spillway/contracts';

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
  | 'no-socket'
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
export type HealthEffect =
  | { readonly effect: 'none' | 'failure' }
  | { readonly effect: 'bar'; readonly why: 'quota' | 'auth' | 'billing' | 'unknown-model' };

/** What a model said, cleared of secrets and never HTML, so that it may be passed on to the caller. */
export interface FailureAnswer {
  readonly status: number;
  readonly text: string;
  readonly contentType: string;
}

/** Who may still answer a call that failed: every other model, one with a larger context window, or nobody. */
type Successor = 'any' | 'larger' | 'nobody';

interface KindTraits {
  readonly successor: Successor;
  readonly family: FailureFamily;
  /** The limit that leaving the model alone for a while helps against; absent: none. */
  readonly overload?: Overload;
  /** Whether it passes by itself while the model is left alone for as long as it asks; absent: nobody can tell. */
  readonly passes?: true;
  readonly health: HealthEffect;
}

const UNTOLD: HealthEffect = { effect: 'none' };
const FAILED: HealthEffect = { effect: 'failure' };
const busy = (overload: Overload): KindTraits => {
  return { successor: 'any', family: 'busy', overload, passes: true, health: UNTOLD };
};
const BROKEN: KindTraits = { successor: 'any', family: 'broken', health: FAILED };

/** The one table of what each kind means for the walk along the chain, for what its caller is told, and for health. */
const TRAITS: Readonly<Record<FailureKind, KindTraits>> = {
  requests: busy('requests'),
  tokens: busy('tokens'),
  inflight: busy('inflight'),
  slope: busy('slope'),
  overloaded: busy('overloaded'),
  'rate-limit': busy('rate-limit'),
  quota: { successor: 'any', family: 'busy', health: { effect: 'bar', why: 'quota' } },
  auth: { successor: 'any', family: 'credentials', health: { effect: 'bar', why: 'auth' } },
  billing: { successor: 'any', family: 'credentials', health: { effect: 'bar', why: 'billing' } },
  'unknown-model': { successor: 'nobody', family: 'refusal', health: { effect: 'bar', why: 'unknown-model' } },
  'context-length': { successor: 'larger', family: 'refusal', health: UNTOLD },
  'caller-fault': { successor: 'nobody', family: 'refusal', health: UNTOLD },
  timeout: { successor: 'any', family: 'timeout', health: FAILED },
  server: { ...BROKEN, passes: true },
  network: BROKEN,
  // This process is at the end of its means; no model can help that.
  'no-socket': { ...BROKEN, health: UNTOLD },
  protocol: BROKEN,
  empty: BROKEN,
  truncated: BROKEN,
  'stream-error': BROKEN,
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

  /** Who may still answer the call. */
  get successor(): Successor {
    return TRAITS[this.kind].successor;
  }

  /** Whether it passes by itself while the model is left alone for as long as it asks. */
  get passes(): boolean {
    return TRAITS[this.kind].passes ?? false;
  }

  /** Null: it was not refused for a limit. */
  get overload(): Overload | null {
    return TRAITS[this.kind].overload ?? null;
  }

  /** What it says when a whole chain has failed. */
  get family(): FailureFamily {
    return TRAITS[this.kind].family;
  }

  /** What it says about the health of its model. */
  get health(): HealthEffect {
    return TRAITS[this.kind].health;
  }
}
