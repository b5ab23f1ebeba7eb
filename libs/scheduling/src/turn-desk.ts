import type { Call, Clock, ModelSettings, Observed, Priority, TurnEnd, Usage } from '@spillway/contracts';
import type { AdaptiveLimits, EndOfCall, Permits, ServiceTimes, TicketIds, TokenEstimator } from '@spillway/quota';
import type { OpenTurns } from './open-turns';
import type { WaitingRoom } from './waiting-room';

/** The configuration as it is now; a reload counts from the next call on. */
interface TurnSettings {
  readonly current: {
    readonly scheduling: { readonly express: boolean; readonly worker_concurrency: number };
    readonly priorities: Readonly<Record<Priority, { readonly queue_limit: number }>>;
  };
}

/** What one process needs to hand out turns by some permits. */
export interface TurnDesk {
  /** Names this process in its tickets and to the others. */
  readonly processId: string;
  readonly permits: Permits;
  readonly estimator: TokenEstimator;
  readonly adaptive: Pick<AdaptiveLimits, 'learn'>;
  readonly times: ServiceTimes;
  readonly clock: Clock;
  readonly settings: TurnSettings;
  readonly tickets: TicketIds;
  readonly open: OpenTurns;
  readonly room: WaitingRoom;
}

/** How the call of a turn ended. */
interface EndOfTurn {
  readonly end: TurnEnd;
  readonly usage: Usage | null;
  readonly observed: Observed | undefined;
  /** Tokens that were reserved for it. */
  readonly reserved: number;
}

/** A call that was let go, and what is to be told how it ended. */
interface Begun {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly end: EndOfCall;
}

/** Lets the next estimates, and the limits of a model, learn from a call that it was asked for. */
export function learnFrom(
  { adaptive, times, clock }: Pick<TurnDesk, 'adaptive' | 'times' | 'clock'>,
  call: Call,
  model: ModelSettings,
  begun: Begun,
  ended: EndOfTurn,
): void {
  const { end, usage } = ended;
  const ms = call.streaming ? call.journal.firstContentMs : call.journal.upstreamMs;
  if (end === 'success' && ms !== null) times.learn(call, model, ms);
  begun.end(end === 'success' && usage !== null ? { usage, ms: clock.now() - begun.at } : null);
  adaptive.learn(model.name, { call, ...ended });
}
