import { rankOf, type ModelSettings, type Observed, type Priority } from '@spillway/contracts';
import type { Settings } from '@spillway/config';
import { ServiceTimes, TokenEstimator, type EndOfCall, type Grant } from '@spillway/quota';
import type { Reply } from '../callers/caller';
import { ROUTE } from '../scenario/settings';
import type { PlannedCall } from '../workload/plan';
import { keyOf, type VirtualCache } from './virtual-cache';
import { bodyOf, type VirtualCaller } from './virtual-caller';
import { VirtualPermits } from './virtual-permits';
import type { VirtualAnswer, VirtualProvider } from './virtual-provider';
import type { VirtualTime } from './virtual-time';

/** Milliseconds of an answer from a cache. */
const HIT_MS = 5;

type EstimatedCall = Parameters<TokenEstimator['reserve']>[0];

/** One caller of a call. */
interface Member {
  readonly planned: PlannedCall;
  readonly done: (reply: Reply) => void;
}

/** A call that a model was asked for. */
interface Asked {
  readonly grant: Grant;
  readonly model: ModelSettings;
  readonly startedAt: number;
  /** Lets the next estimates learn from its answer. */
  readonly learn: EndOfCall;
}

/** A call on its way to a model, with all that wait for its answer; the first leads. */
interface Flight {
  readonly planned: PlannedCall;
  readonly call: EstimatedCall;
  readonly members: Set<Member>;
  priority: Priority;
  /** In virtual milliseconds of the clock. */
  turnBy: number;
  /** In virtual milliseconds of the clock. */
  answerBy: number;
  /** Of its chain, not yet asked. */
  models: readonly ModelSettings[];
  /** null: it is with a model. */
  ticket: string | null;
  tries: number;
  /** Ends the call of the model. */
  leave: () => void;
}

/**
 * Spillway in virtual time: its own permits and token estimates, one walk along the chain, caches by the structure of
 * the questions. What only processes have (network, Redis, health of models) is left out.
 */
export class VirtualSpillway implements VirtualCaller {
  readonly permits: VirtualPermits;
  private readonly estimator = new TokenEstimator();
  private readonly times = new ServiceTimes();
  private readonly flights = new Map<string, Flight>();
  private readonly route: NonNullable<ReturnType<Settings['target']>>;
  private tickets = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly provider: VirtualProvider,
    private readonly settings: Settings,
    private readonly cache: VirtualCache,
  ) {
    const route = settings.target(ROUTE);
    if (route === undefined) throw new Error(`There is no route ${ROUTE}.`);
    this.route = route;
    this.permits = new VirtualPermits(time, settings);
  }

  call(planned: PlannedCall, done: (reply: Reply) => void): () => void {
    const hit = this.hitOf(planned);
    if (hit !== null) {
      this.time.after(HIT_MS, () => done({ kind: 'answer', text: '', tier: hit, tries: 0 }));
      return () => undefined;
    }
    const member = { planned, done };
    const flight = this.settings.cache.coalesce ? this.flights.get(keyOf(planned.question)) : undefined;
    const own = flight ?? this.take(planned);
    own.members.add(member);
    if (flight === undefined) this.enter(own);
    else this.promote(own, planned.priority);
    const { deadline_ms } = this.settings.priorities[planned.priority];
    if (deadline_ms > 0) this.time.after(deadline_ms, () => this.giveUp(own, member));
    return () => this.leave(own, member);
  }

  private hitOf({ question }: PlannedCall): ReturnType<VirtualCache['find']> {
    const { exact, semantic } = this.route.cache;
    const found = exact ? this.cache.find(question) : null;
    return found === 'semantic' && semantic !== true ? null : found;
  }

  private take(planned: PlannedCall): Flight {
    const { priority, question } = planned;
    const flight: Flight = {
      planned,
      call: { body: bodyOf(planned), route: this.route, priority, operation: 'chat', streaming: false },
      members: new Set(),
      priority,
      ...this.timesOf(priority),
      models: this.route.chain_by_priority[priority] ?? this.route.chain,
      ticket: null,
      tries: 0,
      leave: () => undefined,
    };
    this.flights.set(keyOf(question), flight);
    return flight;
  }

  private timesOf(priority: Priority): Pick<Flight, 'turnBy' | 'answerBy'> {
    const { max_wait_ms, deadline_ms } = this.settings.priorities[priority];
    const answerBy = this.time.now() + (deadline_ms === 0 ? Infinity : deadline_ms);
    return { turnBy: Math.min(this.time.now() + max_wait_ms, answerBy), answerBy };
  }

  private enter(flight: Flight): void {
    const [first] = flight.models;
    if (first === undefined) return;
    const tokens = this.estimator.reserve(flight.call, first);
    const ticket = `virtual-${++this.tickets}`;
    const { priority } = flight;
    const turnBy = Math.min(flight.turnBy, flight.answerBy - this.times.least(flight.call, flight.models));
    flight.ticket = ticket;
    const models = flight.models.map(({ name }) => name);
    const granted = (grant: Grant): void => this.ask(flight, grant, tokens);
    const entry = this.permits.enter({ ticket, priority, models, turnBy, tokens, granted });
    if (entry === null) return;
    if (entry.kind === 'full') return this.end(flight, 429);
    if (this.time.now() + (entry.estimateMs ?? 0) < turnBy) return this.permits.reach(ticket);
    this.permits.withdraw(ticket);
    this.end(flight, 504);
  }

  /** A waiting call gets the class of the highest that waits for it. */
  private promote(flight: Flight, priority: Priority): void {
    if (flight.ticket === null || rankOf(priority) >= rankOf(flight.priority)) return;
    this.permits.withdraw(flight.ticket);
    flight.priority = priority;
    Object.assign(flight, this.timesOf(priority));
    this.enter(flight);
  }

  private ask(flight: Flight, grant: Grant, reserved: number): void {
    flight.ticket = null;
    flight.tries += 1;
    const model = flight.models.find(({ name }) => name === grant.model);
    if (model === undefined) throw new Error(`A permit of ${grant.model} was not asked for.`);
    const tokens = this.estimator.reserve(flight.call, model);
    if (tokens !== reserved) this.permits.rebook(grant, tokens);
    const learn = this.estimator.begin(flight.call, model, tokens);
    const asked = { grant, model, startedAt: this.time.now(), learn };
    const cancel = this.provider.call(grant.model, flight.call.body, answer => {
      flight.leave = () => undefined;
      if (answer.kind === 'answer') this.succeed(flight, asked, answer);
      else this.fail(flight, asked, answer.status, answer.observed);
    });
    flight.leave = () => {
      cancel();
      learn(null);
      this.permits.release(grant, 'ignored', this.estimator.predict(flight.call, model));
    };
  }

  private succeed(
    flight: Flight,
    { grant, model, startedAt, learn }: Asked,
    { usage, observed }: Extract<VirtualAnswer, { kind: 'answer' }>,
  ): void {
    this.permits.release(grant, 'success', usage, observed);
    const ms = this.time.now() - startedAt;
    learn({ usage, ms });
    this.times.learn(flight.call, model, ms);
    this.cache.store(flight.planned.question);
    for (const member of this.land(flight)) {
      const tier = member.planned === flight.planned ? 'generated' : 'coalesced';
      member.done({ kind: 'answer', text: '', tier, tries: flight.tries });
    }
  }

  private fail(flight: Flight, { grant, learn }: Asked, status: number, observed: Observed): void {
    learn(null);
    const refused = status === 429;
    this.permits.release(grant, 'dropped', refused ? { input: 0, output: 0 } : null, observed);
    flight.models = flight.models.filter(({ name }) => name !== grant.model);
    if (flight.models.length === 0) this.end(flight, refused ? 503 : 502);
    else this.enter(flight);
  }

  private end(flight: Flight, status: number): void {
    for (const member of this.land(flight)) this.refuse(member, status, flight.tries);
  }

  /** Nobody joins it any more; returns those who did. */
  private land(flight: Flight): readonly Member[] {
    this.forget(flight);
    const members = [...flight.members];
    flight.members.clear();
    return members;
  }

  private forget(flight: Flight): void {
    const key = keyOf(flight.planned.question);
    if (this.flights.get(key) === flight) this.flights.delete(key);
  }

  private giveUp(flight: Flight, member: Member): void {
    if (this.leave(flight, member)) this.refuse(member, 504, flight.tries);
  }

  /** False: it had ended. The last to leave takes the call along. */
  private leave(flight: Flight, member: Member): boolean {
    if (!flight.members.delete(member)) return false;
    if (flight.members.size > 0) return true;
    if (flight.ticket === null) flight.leave();
    else this.permits.withdraw(flight.ticket);
    this.forget(flight);
    return true;
  }

  private refuse({ planned, done }: Member, status: number, tries: number): void {
    const isFallback = this.route.fallback_response[planned.priority] !== null;
    done(isFallback ? { kind: 'fallback' } : { kind: 'error', status, tries });
  }
}
