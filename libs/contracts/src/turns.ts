import type { Call } from './call';
import type { Usage } from './journal';
import type { ModelSettings } from './settings';

/** How the use of a permit ended; `ignored` says nothing about the model (the caller left, say). */
export type TurnEnd = 'success' | 'ignored' | 'dropped';

/** The right to make one call of one model now. Closed exactly once; closing again does nothing. */
export interface Turn {
  readonly model: ModelSettings;
  close(end: TurnEnd, usage?: Usage | null): void;
}

/** Hands out turns in order of class, deadline and arrival, within the limits of the models. */
export abstract class Turns {
  /**
   * Waits until one of `models` (in order of preference) may be called.
   * @throws QueueFull, QueueTimeout, or the reason of the call's signal.
   */
  abstract take(call: Call, models: readonly ModelSettings[]): Promise<Turn>;
}

/** A call that has its turn. Whoever receives it closes the turn. */
export interface CallWithTurn extends Call {
  readonly turn: Turn;
}
