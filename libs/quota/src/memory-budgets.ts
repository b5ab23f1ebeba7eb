import type { Clock } from '@spillway/contracts';
import { budgetTerms, type BudgetSettings } from './budget-terms';
import {
  Budgets,
  grantsOf,
  type Admission,
  type AdmissionRequest,
  type BudgetLimit,
  type BudgetRefusal,
  type BudgetUse,
} from './budgets';
import { bookable, judge, usage } from './law';
import { LeaseBook } from './lease-book';
import { ModelUse, type Booking } from './model-use';
import type { Grant } from './permits';
import type { TermsBook } from './terms';
import type { PermitTimings } from './timings';

/** Budgets know no classes. */
const RANK = 0;

/** The budgets of one process alone. */
export class MemoryBudgets extends Budgets {
  private readonly terms: TermsBook;
  private readonly uses = new Map<string, ModelUse>();
  private readonly booked = new Map<string, { readonly budget: string; readonly booking: Booking }>();
  private readonly leases: LeaseBook;

  constructor(
    settings: BudgetSettings,
    private readonly clock: Clock,
    timings: PermitTimings,
  ) {
    super();
    this.terms = budgetTerms(settings);
    this.leases = new LeaseBook(timings);
  }

  async admit(request: AdmissionRequest): Promise<Admission> {
    const { budgets, tokens } = request;
    const now = this.clock.now();
    this.forgetExpired(now);
    const binds = longest(budgets.flatMap(budget => this.refusals(budget, tokens, now)));
    const grants = binds ? [] : grantsOf(request);
    for (const grant of grants) this.book(grant, tokens, now);
    const uses = budgets.flatMap(budget => this.usesOf(budget, now));
    return binds ? { kind: 'refused', binds, uses } : { kind: 'granted', grants, uses };
  }

  async release({ lease }: Grant, tokens: number | null): Promise<void> {
    this.end(lease, (use, booking) => use.settle(booking, tokens));
    this.forgetExpired(this.clock.now());
  }

  async withdraw({ lease }: Grant): Promise<void> {
    // A call whose lease has ended is taken to have been made.
    this.forgetExpired(this.clock.now());
    this.end(lease, (use, booking) => use.cancel(booking));
  }

  async renew(grants: readonly Grant[]): Promise<void> {
    const now = this.clock.now();
    for (const { lease } of grants) this.leases.renew(lease, now);
  }

  async forgetUnused(): Promise<void> {
    const now = this.clock.now();
    this.forgetExpired(now);
    for (const [budget, use] of this.uses) if (use.isUnused(this.terms.of(budget), now)) this.uses.delete(budget);
  }

  /** How many budgets are remembered. */
  get size(): number {
    return this.uses.size;
  }

  private refusals(budget: string, tokens: number, now: number): readonly BudgetRefusal[] {
    const verdict = judge(this.terms.of(budget), this.useOf(budget, now), { rank: RANK, tokens });
    if (verdict.admitted) return [];
    const { limit, at } = verdict;
    return [{ budget, limit: limit as BudgetLimit, inMs: at === null ? null : Math.max(0, Math.ceil(at - now)) }];
  }

  private book({ lease, model: budget }: Grant, tokens: number, now: number): void {
    const booking = this.useOf(budget, now).take(RANK, bookable(this.terms.of(budget), tokens));
    this.booked.set(lease, { budget, booking });
    this.leases.start(lease, now);
  }

  private usesOf(budget: string, now: number): readonly BudgetUse[] {
    const use = this.useOf(budget, now);
    const emptyInMs = Math.max(0, Math.ceil(use.minute.whenEmpty(0) - use.ahead - now));
    return usage(this.terms.of(budget), use)
      .filter(({ limit }) => limit === 'rpm' || limit === 'tpm')
      .map(one => ({ budget, ...one, emptyInMs }));
  }

  private useOf(budget: string, now: number): ModelUse {
    const use = this.uses.get(budget) ?? new ModelUse();
    this.uses.set(budget, use);
    use.advance(this.terms.of(budget), now);
    return use;
  }

  private forgetExpired(now: number): void {
    for (const lease of this.leases.expired(now)) this.end(lease, (use, booking) => use.settle(booking, null));
  }

  private end(lease: string, finish: (use: ModelUse, booking: Booking) => void): void {
    const booked = this.booked.get(lease);
    if (booked === undefined) return;
    this.booked.delete(lease);
    this.leases.end(lease);
    finish(this.useOf(booked.budget, this.clock.now()), booked.booking);
  }
}

/** One that ends when a call ends may end at once. */
function longest([first, ...others]: readonly BudgetRefusal[]): BudgetRefusal | null {
  if (first === undefined) return null;
  const lasts = ({ inMs }: BudgetRefusal): number => inMs ?? -1;
  return others.reduce((most, one) => (lasts(one) > lasts(most) ? one : most), first);
}
