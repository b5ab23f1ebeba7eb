import type { Call } from './call';
import type { ModelSettings } from './settings';
import type { Usage } from './usage';

/** How the use of a permit ended; `ignored` says nothing about the model (the caller left, say). */
export type TurnEnd = 'success' | 'ignored' | 'dropped';

/** Limits that a provider says it has reached, as far as leaving it alone for a while helps. */
export type Overload = 'requests' | 'tokens' | 'inflight' | 'slope' | 'overloaded' | 'rate-limit';

/** What a provider says of one of its limits; what it does not say, or says in no known form, is absent. */
export interface ObservedBucket {
  readonly limit?: number;
  readonly remaining?: number;
  /** Milliseconds until the bucket is full again. */
  readonly resetMs?: number;
}

export interface ObservedLimits {
  readonly requests?: ObservedBucket;
  readonly tokens?: ObservedBucket;
}

/** What an answer told of the limits of its model. Spans of time count from the moment at which the turn is closed. */
export interface Observed {
  /** Null: it was not refused for a limit. */
  readonly overload: Overload | null;
  /** Milliseconds for which the provider asked to be left alone; null: it did not. */
  readonly retryAfterMs: number | null;
  readonly limits: ObservedLimits | null;
}

/** The right to make one call of one model now. Closed exactly once; closing again does nothing. */
export interface Turn {
  readonly model: ModelSettings;
  /** `observed` absent: the answer told nothing of limits. */
  close(end: TurnEnd, usage?: Usage | null, observed?: Observed): void;
}

/** Hands out turns in order of class, deadline and arrival, within the limits of the models. */
export abstract class Turns {
  /**
   * Waits until one of `models` (in order of preference) may be called.
   * @throws QueueFull, QueueTimeout, or the reason of the call's signal.
   */
  abstract take(call: Call, models: readonly ModelSettings[]): Promise<Turn>;

  /** A turn for a call that could as well not be made: one that nobody else wants now; null: there is none. Never fails. */
  abstract takeSpare(call: Call, model: ModelSettings): Promise<Turn | null>;
}

/** A call that knows whom it may ask now. */
export interface PlannedCall extends Call {
  /** Of its chain, or what it is shed to, best first; never empty. */
  readonly planned: readonly ModelSettings[];
}

/** A call that has its turn. Whoever receives it closes the turn. */
export interface CallWithTurn extends PlannedCall {
  readonly turn: Turn;
}
