import { randomBytes } from 'node:crypto';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '@spillway/contracts';
import {
  LeaseKeeper,
  TicketIds,
  grantsOf,
  type Admission,
  type AdmissionRequest,
  type BudgetRefusal,
  type BudgetUse,
  type Budgets,
  type PermitTimings,
} from '@spillway/quota';
import { RedisUnavailable, type RedisGuard } from '@spillway/redis';

const SWEEP_EVERY_MS = 10_000;

/** The right to one call. The first of the two ends it, whatever is called after that. */
export interface CallerPermit {
  /** The call was made; null: its tokens are not known. */
  close(tokens: number | null): void;
  /** It was not made. */
  withdraw(): void;
}

export type Decision =
  | { readonly kind: 'admitted'; readonly permit: CallerPermit; readonly uses: readonly BudgetUse[] }
  | { readonly kind: 'refused'; readonly binds: BudgetRefusal; readonly uses: readonly BudgetUse[] };

type Report = (problem: string, error: unknown) => void;

/** Budgets that all processes share, and what knows whether they are lost. */
export interface SharedBudgets {
  readonly budgets: Budgets;
  readonly guard: Pick<RedisGuard, 'state'>;
}

/** Books calls on budgets: on those that processes share while Redis answers, on this process's own while it does not. */
export class Admissions implements OnApplicationShutdown {
  private readonly tickets = new TicketIds(randomBytes(8).toString('hex'));
  private readonly local: Book;
  private readonly shared: Book | null;
  private readonly sweeping: NodeJS.Timeout;

  constructor(
    local: Budgets,
    private readonly lent: SharedBudgets | null,
    clock: Clock,
    timings: PermitTimings,
    report: Report,
  ) {
    const book = (budgets: Budgets): Book => new Book(budgets, new LeaseKeeper(budgets, clock, timings, report));
    this.local = book(local);
    this.shared = lent && book(lent.budgets);
    this.sweeping = setInterval(() => this.sweep(report), SWEEP_EVERY_MS).unref();
  }

  async admit(budgets: readonly string[], tokens: number): Promise<Decision> {
    const request = { ticket: this.tickets.next(), budgets, tokens };
    if (this.shared === null || this.lent?.guard.state === 'lost') return this.local.decide(request);
    try {
      return await this.shared.decide(request);
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      return this.local.decide(request);
    }
  }

  onApplicationShutdown(): void {
    clearInterval(this.sweeping);
    this.local.stop();
    this.shared?.stop();
  }

  private sweep(report: Report): void {
    for (const book of [this.local, this.shared]) {
      book?.forgetUnused().catch((error: unknown) => report('unused limits of callers were not forgotten', error));
    }
  }
}

/** Budgets, and the leases that this process holds on them. */
class Book {
  constructor(
    private readonly budgets: Budgets,
    private readonly leases: LeaseKeeper,
  ) {}

  async decide(request: AdmissionRequest): Promise<Decision> {
    const admission = await this.admit(request);
    if (admission.kind === 'refused') return admission;
    const held = admission.grants.map(grant => ({ grant, end: this.leases.hold(grant) }));
    const permit: CallerPermit = {
      close: tokens => held.forEach(({ grant, end }) => end(() => this.budgets.release(grant, tokens))),
      withdraw: () => held.forEach(({ grant, end }) => end(() => this.budgets.withdraw(grant))),
    };
    return { kind: 'admitted', permit, uses: admission.uses };
  }

  forgetUnused(): Promise<void> {
    return this.budgets.forgetUnused();
  }

  stop(): void {
    this.leases.stop();
  }

  private async admit(request: AdmissionRequest): Promise<Admission> {
    try {
      return await this.budgets.admit(request);
    } catch (error) {
      // It may be booked all the same, by an answer that came too late.
      for (const grant of grantsOf(request)) this.leases.giveBack(() => this.budgets.withdraw(grant));
      throw error;
    }
  }
}
