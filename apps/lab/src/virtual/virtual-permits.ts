import { rankOf, type TurnEnd, type Observed, type Priority, type Usage } from '@spillway/contracts';
import type { ConfigStore } from '@spillway/config';
import {
  Ledger,
  QuotaSettings,
  TermsBook,
  type Entry,
  type Grant,
  type ModelLimits,
  type ModelReport,
} from '@spillway/quota';
import type { VirtualTime } from './virtual-time';

/** Nobody dies in virtual time: what is granted is given back. */
const LEASES = { leaseMs: Infinity, claimMs: Infinity };
/** Timers of a process are no finer. */
const SOONEST_LOOK_MS = 1;

/** A wait for one of several models, and what its grant sets going. */
export interface VirtualWait {
  readonly ticket: string;
  readonly priority: Priority;
  readonly models: readonly string[];
  readonly turnBy: number;
  readonly tokens: number;
  readonly granted: (grant: Grant) => void;
}

/** Spillway's own permits, the ledger of one process, driven by virtual time. */
export class VirtualPermits {
  private readonly ledger: Ledger;
  private readonly waits = new Map<string, VirtualWait>();
  private dueAt = Infinity;

  constructor(
    private readonly time: VirtualTime,
    private readonly settings: Pick<ConfigStore['current'], 'models' | 'priorities' | 'scheduling'>,
  ) {
    this.ledger = new Ledger(new TermsBook(new WrittenLimits(settings)), LEASES, grant => this.tell(grant));
  }

  /** Enters a wait as a process does whose workers reach every ticket at once; null: granted, or it waits. */
  enter(wait: VirtualWait): Exclude<Entry, { kind: 'granted' }> | null {
    const { granted: _, priority, ...asked } = wait;
    this.waits.set(wait.ticket, wait);
    const { express } = this.settings.scheduling;
    const { queue_limit: queueLimit } = this.settings.priorities[priority];
    const entry = this.at(now => this.ledger.enter({ ...asked, rank: rankOf(priority) }, { express, queueLimit }, now));
    if (entry.kind === 'granted') this.tell(entry.grant);
    if (entry.kind === 'full') this.waits.delete(wait.ticket);
    return entry.kind === 'granted' ? null : entry;
  }

  reach(ticket: string): void {
    const reached = this.at(now => this.ledger.reach(ticket, now));
    if (reached.kind === 'granted') this.tell(reached.grant);
  }

  withdraw(ticket: string): void {
    this.waits.delete(ticket);
    this.at(now => this.ledger.withdraw(ticket, now));
  }

  release({ lease }: Grant, end: TurnEnd, usage: Usage | null, observed?: Observed): void {
    const used = usage === null ? null : usage.input + usage.output;
    this.at(now => this.ledger.release(lease, used, { end, observed }, now));
  }

  rebook({ lease }: Grant, tokens: number): void {
    this.at(now => this.ledger.rebook(lease, tokens, now));
  }

  depth(priority: Priority): number {
    return this.ledger.depth(rankOf(priority));
  }

  explain(model: string): ModelReport {
    return this.ledger.explain(model, this.time.now());
  }

  /** Later within the same moment: the ledger is not entered from within its own work. */
  private tell(grant: Grant): void {
    this.time.after(0, () => {
      const wait = this.waits.get(grant.ticket);
      this.waits.delete(grant.ticket);
      wait?.granted(grant);
    });
  }

  private at<Result>(work: (now: number) => Result): Result {
    const result = work(this.time.now());
    this.lookAt(this.ledger.nextLook);
    return result;
  }

  /** Looks again when time alone can change something. */
  private lookAt(at: number): void {
    if (at >= this.dueAt) return;
    this.dueAt = at;
    this.time.after(Math.max(SOONEST_LOOK_MS, at - this.time.now()), () => {
      if (this.dueAt !== at) return;
      this.dueAt = Infinity;
      this.lookAt(this.ledger.look(this.time.now()));
    });
  }
}

/** The limits as they are written: nothing adapts in virtual time but what the ledger itself learns. */
class WrittenLimits extends QuotaSettings {
  constructor(private readonly settings: Pick<ConfigStore['current'], 'models' | 'priorities'>) {
    super();
  }

  limitsOf(model: string): ModelLimits | null {
    return this.settings.models.get(model) ?? null;
  }

  shares(): ConfigStore['current']['priorities'] {
    return this.settings.priorities;
  }
}
