import type { Observed, Priority, TurnEnd, Usage } from '@spillway/contracts';
import type { LearnedReport } from './learned';
import type { Binding, LimitName } from './limits';

/** A wait for one call of one of several models. */
export interface WaitRequest {
  /** Unique to this wait: `[A-Za-z0-9_-]`, never a plain integer. */
  readonly ticket: string;
  /** The process that holds the caller. */
  readonly owner: string;
  readonly priority: Priority;
  /** Names of models in order of preference, never empty. */
  readonly models: readonly string[];
  /** Milliseconds since the epoch: the wait is over then, whatever happened. */
  readonly turnBy: number;
  /** Tokens to reserve: estimated input plus predicted output. */
  readonly tokens: number;
}

/** A permit handed out: one call of `model`, under a lease that must be renewed and released. */
export interface Grant {
  readonly ticket: string;
  readonly model: string;
  readonly lease: string;
}

export type Entry =
  | { readonly kind: 'granted'; readonly grant: Grant }
  /**
   * `ahead`: waits of the same or a higher class before it. `estimateMs`: expected wait, never less than what nothing but time can end; null: nothing known yet.
   * `freeInMs`: when the limits may next admit such a call, if nobody waited and no call ended; 0: any time.
   */
  | {
      readonly kind: 'queued';
      readonly ahead: number;
      readonly estimateMs: number | null;
      readonly freeInMs: number;
      /** What refused it the first model of its chain; `order`: others wait before it; null: nothing was tried. */
      readonly binds: Binding | 'order' | null;
    }
  /** The class's queue is full. */
  | { readonly kind: 'full'; readonly retryAfterMs: number };

export type Reached =
  | { readonly kind: 'granted'; readonly grant: Grant }
  /** It waits, best first; its grant will come through `onGrant` of the process that reached it. */
  | { readonly kind: 'waiting' }
  /** Withdrawn, expired or already granted: nothing to hand out. */
  | { readonly kind: 'gone' };

/**
 * The permits of all models: who may call now, who waits, in which order. One law, two enforcers: Redis (shared by
 * processes) and memory.
 *
 * Order: class, then `turnBy`, then arrival. A wait counts as waiting from `enter` on; it can be granted at once
 * (`express`) or after a worker has reached it. A permit that frees goes to the best reached wait.
 */
export abstract class Permits {
  /**
   * Registers a wait. With `express`, a permit that is free while no wait of the same or a higher class could use it
   * is granted at once.
   */
  abstract enter(request: WaitRequest, options: { express: boolean; queueLimit: number }): Promise<Entry>;

  /**
   * A permit of the first model of a request for a call that could as well not be made, at once or never: null. There is
   * one to spare while nobody waits for the model, of whatever class, and the use of all stays below the `share` of LOW;
   * no guarantee is touched. It is booked as one of the request's own class.
   */
  abstract takeSpare(request: WaitRequest): Promise<Grant | null>;

  /** A worker of this process has reached the ticket in its queue. */
  abstract reach(ticket: string): Promise<Reached>;

  /** The wait is over without a call: forgets it, and gives its permit back if it has one. */
  abstract withdraw(ticket: string): Promise<void>;

  /**
   * Gives a permit back, with what was used; a second time does nothing. Null keeps the estimate, because a provider may
   * have counted it; zero tokens say that the model did not work at all. `observed`: what the answer told of limits.
   */
  abstract release(grant: Grant, end: TurnEnd, usage: Usage | null, observed?: Observed): Promise<void>;

  /** Keeps the leases of calls under way; must be called at least every `leaseMs / 3`. */
  abstract renew(grants: readonly Grant[]): Promise<void>;

  /** Books a call under way with so many tokens instead of those it was let go with. */
  abstract rebook(grant: Grant, tokens: number): Promise<void>;

  /** Tells of grants to waits that this process reached. */
  abstract onGrant(listener: (grant: Grant) => void): void;

  /** The waits of an owner that need attention: granted but perhaps not told, or never reached. */
  abstract inspect(tickets: readonly string[]): Promise<readonly TicketState[]>;

  /** Waiting calls by class. */
  abstract depths(): Promise<Readonly<Record<Priority, number>>>;

  /** The waits of a class, at most so many, those that end first before the others. */
  abstract waits(priority: Priority, most: number): Promise<readonly WaitReport[]>;

  /** Calls under way by model. */
  abstract inflight(): Promise<Readonly<Record<string, number>>>;

  /** What the limits of a model hold, who waits for it, and what the best wait waits for. */
  abstract explain(model: string): Promise<ModelReport>;

  /** What is left of each limit that a model has. */
  async remaining(model: string): Promise<Readonly<Partial<Record<LimitName, number>>>> {
    const { limits } = await this.explain(model);
    return Object.fromEntries(limits.map(({ limit, admitted, used }) => [limit, Math.max(0, admitted - used)]));
  }
}

/** One wait as operators see it. */
export interface WaitReport {
  readonly ticket: string;
  readonly models: readonly string[];
  /** Reserved. */
  readonly tokens: number;
  readonly waitedMs: number;
  /** Milliseconds until it ends, whatever happens. */
  readonly leftMs: number;
  /** Whether a worker has reached it, so that it may be granted. */
  readonly reached: boolean;
}

/** A limit less its headroom, and how much of it is used. */
export interface LimitUse {
  readonly limit: LimitName;
  readonly admitted: number;
  readonly used: number;
}

export interface ModelReport {
  readonly limits: readonly LimitUse[];
  readonly waiting: Readonly<Record<Priority, number>>;
  /** What refuses the best wait, and in how many ms that may change (null: when a call ends); null: nothing does. */
  readonly binds: { readonly limit: Binding; readonly inMs: number | null } | null;
  /** What the answers of the model have taught; null: nothing is learned from them. */
  readonly learned: LearnedReport | null;
}

export type TicketState =
  | { readonly ticket: string; readonly kind: 'granted'; readonly grant: Grant }
  /** Reached by a worker that is alive. */
  | { readonly ticket: string; readonly kind: 'reached' }
  /** In the queue, or reached by a worker that died since. */
  | { readonly ticket: string; readonly kind: 'queued' }
  | { readonly ticket: string; readonly kind: 'gone' };
