import {
  CallController,
  ClientGone,
  DeadlineExceeded,
  Journal,
  rankOf,
  type Answer,
  type AnswerParts,
  type Clock,
  type KeyedCall,
  type Next,
  type Outcome,
} from '@spillway/contracts';
import {
  bestOf,
  collected,
  isCalling,
  isOfLeader,
  leaderOf,
  noteFollower,
  noteLeader,
  noteShare,
  noteWork,
  tooLate,
  type Leader,
  type Rider,
  type Run,
} from './riders';
import { PartsReader, SharedParts } from './shared-parts';

/** It outlives its work by a moment, and so keeps of it no more than calls that come late need. */
interface SharedAnswer {
  readonly leader: Leader;
  /** What happened on behalf of all. */
  readonly journal: Journal;
  readonly outcome: Outcome;
  readonly parts: SharedParts;
  /** The same where nothing is left to be read; else null. */
  readonly whole: AnswerParts | null;
  /** Ends the work; null where nothing is left of it. */
  readonly controller: CallController | null;
}

type State =
  | { readonly kind: 'boarding' }
  /** `ending`: the last one aboard has left, and hears from its work how that ended. */
  | { readonly kind: 'waiting' | 'ending'; readonly run: Run }
  | ({ readonly kind: 'answered' } & SharedAnswer)
  | { readonly kind: 'over' };

const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface FlightOptions {
  /** Longest answer that a call may still join. */
  readonly maxCharacters: number;
  readonly clock: Clock;
  /** The answer is complete, or nobody may join any more. */
  readonly landed: (end: 'complete' | 'closed') => void;
}

/**
 * Equal calls that share one answer. One of them leads: its call is made, detached from its caller, and goes on as long
 * as any of them is aboard. What is due to the leader alone (its queue is full, its patience at an end) does not touch
 * the others: the best of them leads next. Other failures are shared.
 */
export class Flight {
  private state: State = { kind: 'boarding' };
  private readonly riders = new Set<Rider>();
  private readers = 0;
  private watcher: () => void = () => undefined;
  /** Whether the one that leads knows that it does. */
  private isShared = false;
  /** Milliseconds since the epoch; null: the answer is not complete. */
  private completedAt: number | null = null;
  /** From when on the cache has the answer: it is kept one turn of the event loop after it is complete. */
  private keptFrom = Infinity;

  constructor(private readonly options: FlightOptions) {}

  /** Whether a call can have the answer from its start; a complete one only if both were under way together. */
  admits(call: KeyedCall): boolean {
    switch (this.state.kind) {
      case 'boarding':
      case 'waiting':
        return true;
      case 'answered':
        return this.state.parts.start !== null && this.keptFrom >= call.receivedAt;
      case 'ending':
      case 'over':
        return false;
      default:
        return this.state satisfies never;
    }
  }

  /** Whether a model has been called for it. */
  get isCalling(): boolean {
    switch (this.state.kind) {
      case 'waiting':
      case 'ending':
        return isCalling(this.state.run.journal);
      case 'answered':
        return isCalling(this.state.journal);
      case 'boarding':
      case 'over':
        return false;
      default:
        return this.state satisfies never;
    }
  }

  /** Who waits for the answer, or reads it. */
  get aboard(): number {
    return this.riders.size + this.readers;
  }

  /** Tells one of those aboard of each that leaves. */
  watch(watcher: () => void): void {
    this.watcher = watcher;
  }

  /**
   * Takes a call aboard. Resolves once the first content is there, for a call that does not stream once all is.
   * @throws the failure of the work, or of this call alone.
   */
  board(call: KeyedCall, next: Next<KeyedCall>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const rider = this.seat(call, next, resolve, reject);
      const { state } = this;
      if (state.kind === 'waiting') this.follow(rider, leaderOf(state.run));
      else if (state.kind === 'answered') this.follow(rider, state.leader);
      if (state.kind === 'boarding') this.lead(rider);
      else if (state.kind === 'waiting') this.maybeTakeOver(rider, state.run);
      else if (state.kind === 'answered') this.serve(rider, state, false);
      else rider.reject(new Error('a flight that is over takes nobody aboard'));
    });
  }

  /** From here on the call leaves by itself when its caller does or its time is over. */
  private seat(call: KeyedCall, next: Next<KeyedCall>, resolve: Rider['resolve'], reject: Rider['reject']): Rider {
    const { signal } = call;
    const onAbort = (): void => this.leave(rider, signal.reason);
    const patience = Math.min(Math.max(0, call.turnBy - this.options.clock.now()), LONGEST_TIMER_MS);
    const timer = setTimeout(() => this.outOfPatience(rider), patience).unref();
    const settling =
      <Value>(settle: (value: Value) => void) =>
      (value: Value): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.riders.delete(rider);
        settle(value);
      };
    const rider: Rider = { call, next, resolve: settling(resolve), reject: settling(reject) };
    signal.addEventListener('abort', onAbort, { once: true });
    this.riders.add(rider);
    return rider;
  }

  private follow(rider: Rider, leader: Leader): void {
    noteFollower(rider, leader);
    if (!this.isShared) noteLeader(leader, rider);
    this.isShared = true;
  }

  private lead(rider: Rider): void {
    const { call } = rider;
    const journal = Object.assign(new Journal(), call.journal);
    const controller = new CallController();
    const run: Run = { leader: rider, journal, controller };
    this.state = { kind: 'waiting', run };
    // Even a stage that throws at once must not leave the others waiting.
    const work = async (): Promise<Answer> =>
      rider.next(Object.assign({}, call, { signal: controller.signal, journal }));
    work().then(
      answer => this.answered(run, answer),
      (error: unknown) => this.failed(run, error),
    );
  }

  /** A wait of a lower class gives way to one of a higher: its leader rides along. */
  private maybeTakeOver(rider: Rider, { leader, journal, controller }: Run): void {
    const outranks = rankOf(rider.call.priority) < rankOf(leader.call.priority);
    if (!outranks || isCalling(journal)) return;
    this.report({ leader, journal });
    this.lead(rider);
    controller.abort(new ClientGone('An equal call of a higher class waits in its place.'));
  }

  private answered(run: Run, { outcome, parts }: Answer): void {
    const source = parts[Symbol.asyncIterator]();
    if (!this.awaits(run)) {
      source.return?.().catch(() => undefined);
      return;
    }
    const shared = new SharedParts(source, this.options.maxCharacters, end => this.ended(end));
    const { journal, controller } = run;
    const whole = parts.whole === undefined ? null : parts;
    const left = whole === null ? controller : null;
    const answer = { leader: leaderOf(run), journal, outcome, parts: shared, whole, controller: left };
    this.state = { kind: 'answered', ...answer };
    for (const rider of this.riders) this.serve(rider, answer, rider === run.leader);
    if (parts.whole !== undefined) shared.complete(parts.whole);
  }

  private failed(run: Run, error: unknown): void {
    if (!this.awaits(run)) return;
    const { leader } = run;
    this.report(run);
    if (isOfLeader(error)) {
      leader.reject(error);
      const best = bestOf(this.riders);
      if (best !== null) return this.lead(best);
    }
    this.close();
    for (const rider of this.riders) rider.reject(error);
  }

  private serve(rider: Rider, answer: SharedAnswer, leads: boolean): void {
    const { call } = rider;
    const { outcome, parts, whole, journal, controller } = answer;
    if (parts.start === null) throw new Error('the answer began without this call');
    const note = (): void => (leads ? noteWork : noteShare)(call.journal, journal);
    const told = leads ? outcome : 'coalesced';
    note();
    if (whole !== null) return rider.resolve({ outcome: told, parts: whole });
    this.readers++;
    const reader = new PartsReader(parts, parts.start, call.signal, {
      ended: note,
      left: reason => {
        note();
        return this.readerLeft(parts, controller, reason);
      },
    });
    rider.resolve(call.streaming ? { outcome: told, parts: reader } : collected(told, reader));
  }

  private ended(end: 'complete' | 'failed'): void {
    if (end === 'failed') return this.close();
    if (this.state.kind === 'over') return;
    this.completedAt = this.options.clock.now();
    setImmediate(() => (this.keptFrom = this.options.clock.now()));
    this.options.landed('complete');
  }

  /** A call that waits has lost its caller or its deadline. */
  private leave(rider: Rider, reason: unknown): void {
    if (this.state.kind !== 'waiting') return;
    const { run } = this.state;
    const { leader, journal, controller } = run;
    const isLast = this.riders.size === 1;
    if (isLast && rider === leader) this.close({ kind: 'ending', run });
    if (isLast) controller.abort(reason);
    if (isLast && rider === leader) return;
    if (rider === leader) this.report(run);
    rider.reject(reason instanceof DeadlineExceeded && !isCalling(journal) ? tooLate() : reason);
    if (isLast) this.close();
    else this.watcher();
  }

  /** The leader's patience is watched by who hands out turns. */
  private outOfPatience(rider: Rider): void {
    if (this.state.kind !== 'waiting' || this.state.run.leader === rider || isCalling(this.state.run.journal)) return;
    rider.reject(tooLate());
    if (this.riders.size > 0) return this.watcher();
    this.state.run.controller.abort(new ClientGone('Nobody waits for the answer any more.'));
    this.close();
  }

  private async readerLeft(parts: SharedParts, controller: CallController | null, reason: unknown): Promise<void> {
    this.readers--;
    if (this.readers > 0 || this.completedAt !== null) return this.watcher();
    this.close();
    if (reason !== undefined) controller?.abort(reason);
    await parts.cancel();
  }

  private awaits(run: Run): boolean {
    return (this.state.kind === 'waiting' || this.state.kind === 'ending') && this.state.run === run;
  }

  /** Tells the leader, if it is still aboard, of the work so far. */
  private report({ leader, journal }: Pick<Run, 'leader' | 'journal'>): void {
    if (this.riders.has(leader)) noteWork(leader.call.journal, journal);
  }

  private close(state: State = { kind: 'over' }): void {
    this.state = state;
    this.options.landed('closed');
  }
}
