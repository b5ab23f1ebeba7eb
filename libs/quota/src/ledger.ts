import { PRIORITIES } from '@spillway/contracts';
import type { AloneBook } from './alone-book';
import type { Lesson } from './learned';
import { LeaseBook } from './lease-book';
import type { OwnUse } from './local-share';
import type { ModelDesk } from './model-desk';
import { ModelDesks } from './model-desks';
import type { Booking, ModelUse } from './model-use';
import type { Entry, Grant, ModelReport, Reached, TicketState, WaitReport } from './permits';
import type { TermsBook } from './terms';
import type { PermitTimings } from './timings';
import { WaitList, type Wait } from './wait-list';

/** What refused a wait at its entry. */
type Refused = Extract<Entry, { kind: 'queued' }>['binds'];

type Ticket = { readonly kind: 'queued' | 'reached'; readonly wait: Wait } | Granted;

interface Granted {
  readonly kind: 'granted';
  readonly wait: Wait;
  readonly grant: Grant;
  readonly booking: Booking;
}

/** A wait before it has come. */
export type Asked = Omit<Wait, 'arrival' | 'since'>;

/**
 * Who waits, who may call and who calls, for one process: the twin of the scripts in Redis. Time is handed in, and
 * nothing here waits or reads a clock.
 */
export class Ledger {
  private readonly tickets = new Map<string, Ticket>();
  private readonly models: ModelDesks;
  private readonly leases: LeaseBook;
  /** Every wait once, for depth and expiry. */
  private readonly queue = new WaitList();
  private readonly toPump = new Set<string>();
  private arrivals = 0;
  private wake = Infinity;

  constructor(
    terms: TermsBook,
    timings: PermitTimings,
    private readonly onGrant: (grant: Grant) => void,
    /** Keeps what is granted here for those who share the limits; null: nobody does. */
    private readonly alone: AloneBook | null = null,
  ) {
    this.models = new ModelDesks(terms);
    this.leases = new LeaseBook(timings);
  }

  enter(asked: Asked, options: { express: boolean; queueLimit: number }, now: number): Entry {
    this.refresh(now);
    const known = this.tickets.get(asked.ticket);
    if (known?.kind === 'granted') return { kind: 'granted', grant: known.grant };
    if (known !== undefined) return this.position(known.wait, null, now);
    const wait = this.waitOf(asked, now);
    let binds: Refused = null;
    for (const name of options.express ? wait.models : []) {
      const model = this.models.of(name);
      const refusal = model.refusalAtOnce(wait, now);
      if (refusal === null) return { kind: 'granted', grant: this.grant(wait, model, now) };
      binds ??= refusal;
    }
    if (this.queue.count(wait.rank) >= options.queueLimit) {
      const retryAfterMs = this.models.nextGoesInMs(wait, now);
      for (const name of wait.models) this.models.forgetUnused(this.models.of(name));
      return { kind: 'full', retryAfterMs };
    }
    this.add(wait, now);
    return this.position(wait, binds, now);
  }

  /** Grants a permit of a model at once if there is one to spare; null: there is not. */
  takeSpare(asked: Asked, now: number): Grant | null {
    this.refresh(now);
    const [name = ''] = asked.models;
    const model = this.models.of(name);
    if (!model.hasSpare(asked.tokens, now)) return null;
    return this.grant(this.waitOf(asked, now), model, now);
  }

  reach(ticket: string, now: number): Reached {
    this.forgetExpired(now);
    const known = this.tickets.get(ticket);
    if (known === undefined || known.kind === 'granted') {
      this.pump(now);
      return { kind: 'gone' };
    }
    this.tickets.set(ticket, { kind: 'reached', wait: known.wait });
    this.models.reach(known.wait);
    for (const name of known.wait.models) this.toPump.add(name);
    this.pump(now, ticket);
    const after = this.tickets.get(ticket);
    return after?.kind === 'granted' ? { kind: 'granted', grant: after.grant } : { kind: 'waiting' };
  }

  /** Ends a wait, or a grant as if it had never been made; nothing where there is none. */
  withdraw(ticket: string, now: number): void {
    const known = this.tickets.get(ticket);
    if (known?.kind === 'granted') {
      this.alone?.cancel(ticket);
      this.endLease(known, now).cancel(known.booking);
    } else if (known !== undefined) this.forget(known.wait);
    this.refresh(now);
  }

  /** Ends a call under way, with the tokens it used (null: not known); nothing where there is none. */
  release(ticket: string, used: number | null, lesson: Lesson, now: number): void {
    const known = this.tickets.get(ticket);
    if (known?.kind === 'granted') {
      this.alone?.end(ticket, used);
      this.endLease(known, now).settle(known.booking, used);
      this.models.of(known.grant.model).learn(known.booking, lesson, now);
    }
    this.refresh(now);
  }

  renew(ticket: string, now: number): void {
    this.leases.renew(ticket, now);
  }

  /** Books a call under way with so many tokens instead; nothing where there is none. */
  rebook(ticket: string, tokens: number, now: number): void {
    const known = this.tickets.get(ticket);
    if (known?.kind !== 'granted') return;
    const model = this.models.of(known.grant.model);
    const booking = model.rebook(known.booking, tokens, now);
    this.tickets.set(ticket, { ...known, booking });
    this.alone?.rebook(ticket, booking.tokens);
    this.toPump.add(model.name);
    this.refresh(now);
  }

  /** Books what was used under permits from elsewhere. */
  book(use: OwnUse, now: number): void {
    this.models.of(use.model).at(now).book(use);
  }

  /** A call that has its permit from elsewhere is under way until the returned function is called with the time. */
  adopt(name: string, rank: number, now: number): (now: number) => void {
    this.models.of(name).at(now).countCalls(rank, 1);
    return later => {
      this.models.of(name).at(later).countCalls(rank, -1);
      this.toPump.add(name);
      this.refresh(later);
    };
  }

  /** Forgets what has expired and grants what has become free. */
  refresh(now: number): void {
    this.forgetExpired(now);
    this.pump(now);
  }

  /** Grants what the passing of time alone has made free, and says when to look again; Infinity: nobody waits. */
  look(now: number): number {
    this.wake = Infinity;
    this.forgetExpired(now);
    // By name: which of two models is looked at first decides who gets which.
    for (const name of this.models.waitedFor()) this.toPump.add(name);
    this.pump(now);
    return this.wake;
  }

  stateOf(ticket: string): TicketState {
    const known = this.tickets.get(ticket);
    if (known === undefined) return { ticket, kind: 'gone' };
    return known.kind === 'granted' ? { ticket, kind: 'granted', grant: known.grant } : { ticket, kind: known.kind };
  }

  waits(rank: number, most: number, now: number): readonly WaitReport[] {
    this.refresh(now);
    return this.queue.list(rank, most).map(({ ticket, models, tokens, since, turnBy }) => {
      const reached = this.tickets.get(ticket)?.kind === 'reached';
      return { ticket, models, tokens, waitedMs: now - since, leftMs: Math.max(0, turnBy - now), reached };
    });
  }

  depth(rank: number): number {
    return this.queue.count(rank);
  }

  inflight(): Record<string, number> {
    return this.models.inflight();
  }

  explain(name: string, now: number): ModelReport {
    return this.models.of(name).report(now);
  }

  /** When to look again as far as it is known since the last look. */
  get nextLook(): number {
    return this.wake;
  }

  private forgetExpired(now: number): void {
    for (const ticket of this.leases.expired(now)) {
      const known = this.tickets.get(ticket);
      if (known?.kind !== 'granted') continue;
      this.alone?.end(ticket, null);
      this.endLease(known, now).settle(known.booking, null);
    }
    for (let rank = 0; rank < PRIORITIES.length; rank++) {
      for (let wait = this.queue.first(rank); wait && wait.turnBy <= now; wait = this.queue.first(rank)) {
        this.forget(wait);
      }
    }
  }

  /** Field by field: a spread takes longer than the rest of a decision. */
  private waitOf({ ticket, models, turnBy, tokens, rank }: Asked, since: number): Wait {
    return { ticket, models, turnBy, tokens, rank, arrival: ++this.arrivals, since };
  }

  private add(wait: Wait, now: number): void {
    this.tickets.set(wait.ticket, { kind: 'queued', wait });
    this.queue.add(wait);
    this.models.join(wait, now);
  }

  private remove(wait: Wait): void {
    this.queue.remove(wait);
    this.models.leave(wait);
    for (const name of wait.models) this.toPump.add(name);
  }

  private forget(wait: Wait): void {
    this.tickets.delete(wait.ticket);
    this.remove(wait);
  }

  private endLease({ wait, grant }: Granted, now: number): ModelUse {
    this.tickets.delete(wait.ticket);
    this.leases.end(wait.ticket);
    this.toPump.add(grant.model);
    return this.models.of(grant.model).at(now);
  }

  private grant(wait: Wait, model: ModelDesk, now: number): Grant {
    const grant = { ticket: wait.ticket, model: model.name, lease: wait.ticket };
    const booking = model.take(wait, now);
    this.tickets.set(wait.ticket, { kind: 'granted', wait, grant, booking });
    this.alone?.began(wait.ticket, { model: model.name, rank: wait.rank, tokens: booking.tokens, at: now });
    this.leases.start(wait.ticket, now);
    return grant;
  }

  private position(wait: Wait, binds: Refused, now: number): Entry {
    return { kind: 'queued', ...this.models.prospect(wait, now), binds };
  }

  private pump(now: number, silent?: string): void {
    for (const name of this.toPump) {
      this.toPump.delete(name);
      const model = this.models.of(name);
      this.pumpModel(model, now, silent);
      this.models.forgetUnused(model);
    }
  }

  /** `silent`: the ticket whose grant the caller returns itself. */
  private pumpModel(model: ModelDesk, now: number, silent?: string): void {
    let candidate = model.next(now);
    for (; candidate.wait !== null; candidate = model.next(now)) {
      const target = this.models.preferred(candidate.wait, model, now);
      this.remove(candidate.wait);
      const grant = this.grant(candidate.wait, target, now);
      target.use.countServed();
      if (grant.ticket !== silent) this.onGrant(grant);
    }
    const waiting = model.waits.first() !== undefined;
    if (waiting) this.wake = Math.min(this.wake, candidate.until, this.leases.nextEnd());
    model.use.bookRate(waiting, now);
  }
}
