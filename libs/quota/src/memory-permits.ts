import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { rankOf, type Clock, type Observed, type Priority, type TurnEnd, type Usage } from '@spillway/contracts';
import type { AloneBook } from './alone-book';
import { byPriority } from './by-priority';
import { Ledger, type Asked } from './ledger';
import type { QuotaSettings } from './limits';
import type { OwnUse } from './local-share';
import {
  Permits,
  type Entry,
  type Grant,
  type ModelReport,
  type Reached,
  type TicketState,
  type WaitReport,
  type WaitRequest,
} from './permits';
import { TermsBook } from './terms';
import { tokensOf } from './tokens';
import type { PermitTimings } from './timings';

/** While anybody waits: limits also change by themselves, by a reload, the load of a server or what a model bears. */
const LOOK_EVERY_MS = 250;

/** The permits of one process alone, by the same law. */
@Injectable()
export class MemoryPermits extends Permits implements OnApplicationShutdown {
  private readonly ledger: Ledger;
  private readonly listeners = new Set<(grant: Grant) => void>();
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;

  constructor(
    settings: QuotaSettings,
    private readonly clock: Clock,
    timings: PermitTimings,
    alone: AloneBook | null = null,
  ) {
    super();
    const onGrant = (grant: Grant): void => {
      for (const listener of this.listeners) listener(grant);
    };
    this.ledger = new Ledger(new TermsBook(settings), timings, onGrant, alone);
  }

  async enter(request: WaitRequest, options: { express: boolean; queueLimit: number }): Promise<Entry> {
    return this.at(now => this.ledger.enter(askedOf(request), options, now));
  }

  async takeSpare(request: WaitRequest): Promise<Grant | null> {
    return this.at(now => this.ledger.takeSpare(askedOf(request), now));
  }

  async reach(ticket: string): Promise<Reached> {
    return this.at(now => this.ledger.reach(ticket, now));
  }

  async withdraw(ticket: string): Promise<void> {
    this.at(now => this.ledger.withdraw(ticket, now));
  }

  async release(grant: Grant, end: TurnEnd, usage: Usage | null, observed?: Observed): Promise<void> {
    this.at(now => this.ledger.release(grant.lease, tokensOf(usage), { end, observed }, now));
  }

  async renew(grants: readonly Grant[]): Promise<void> {
    this.at(now => grants.forEach(grant => this.ledger.renew(grant.lease, now)));
  }

  async rebook(grant: Grant, tokens: number): Promise<void> {
    this.at(now => this.ledger.rebook(grant.lease, tokens, now));
  }

  onGrant(listener: (grant: Grant) => void): void {
    this.listeners.add(listener);
  }

  async inspect(tickets: readonly string[]): Promise<readonly TicketState[]> {
    this.at(now => this.ledger.refresh(now));
    return tickets.map(ticket => this.ledger.stateOf(ticket));
  }

  async depths(): Promise<Readonly<Record<Priority, number>>> {
    this.at(now => this.ledger.refresh(now));
    return byPriority(rank => this.ledger.depth(rank));
  }

  async waits(priority: Priority, most: number): Promise<readonly WaitReport[]> {
    return this.at(now => this.ledger.waits(rankOf(priority), most, now));
  }

  async inflight(): Promise<Readonly<Record<string, number>>> {
    this.at(now => this.ledger.refresh(now));
    return this.ledger.inflight();
  }

  async explain(model: string): Promise<ModelReport> {
    return this.at(now => this.ledger.explain(model, now));
  }

  /** Counts as used here what was used under permits from elsewhere. */
  book(uses: readonly OwnUse[]): void {
    this.at(now => uses.forEach(use => this.ledger.book(use, now)));
  }

  /** Counts a call under way here that has its permit from elsewhere, until what is returned is called. */
  adopt(model: string, priority: Priority): () => void {
    const end = this.at(now => this.ledger.adopt(model, rankOf(priority), now));
    return () => this.at(end);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
    this.dueAt = -Infinity;
  }

  /** Does something now, and sees to it that the ledger is looked at when time alone can change it. */
  private at<T>(work: (now: number) => T): T {
    const result = work(this.clock.now());
    this.lookAt(this.ledger.nextLook);
    return result;
  }

  /** Infinity: nobody waits. */
  private lookAt(latest: number): void {
    const at = latest === Infinity ? latest : Math.min(latest, this.clock.now() + LOOK_EVERY_MS);
    if (at >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = at;
    this.timer = setTimeout(() => {
      this.dueAt = Infinity;
      this.lookAt(this.ledger.look(this.clock.now()));
    }, at - this.clock.now()).unref();
  }
}

function askedOf({ ticket, models, turnBy, tokens, priority }: WaitRequest): Asked {
  return { ticket, models, turnBy, tokens, rank: rankOf(priority) };
}
