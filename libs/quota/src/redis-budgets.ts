import { budgetTerms, type BudgetSettings } from './budget-terms';
import { Budgets, grantsOf, type Admission, type AdmissionRequest, type BudgetLimit, type BudgetUse } from './budgets';
import type { SCRIPTS } from './lua/scripts';
import type { Grant } from './permits';
import { SharedLaw, type LawParts } from './shared-law';
import type { TermsBook } from './terms';
import type { PermitTimings } from './timings';

type Reply = readonly [
  wake: number,
  grants: readonly string[],
  binds: readonly [] | readonly [budget: string, limit: BudgetLimit, inMs: number],
  uses: readonly UseReply[],
];
type UseReply = readonly [budget: string, limit: BudgetLimit, admitted: number, used: number, emptyInMs: number];
type SweepReply = readonly [wake: number, grants: readonly string[], cursor: string, seen: number, forgotten: number];

/** Fields looked at in one step of a sweep: less than a millisecond of Redis. */
const FIELDS_AT_ONCE = 200;
/** While a sweep forgets more than this share of what it sees, it goes on at once, as Redis does with expired keys. */
const WORTHWHILE = 0.25;

/** The budgets that all processes share: every decision is one script in Redis, by Redis' clock. */
export class RedisBudgets extends Budgets {
  private readonly law: SharedLaw;
  private readonly terms: TermsBook;
  private cursor = '0';

  constructor(
    redis: LawParts,
    settings: BudgetSettings,
    private readonly timings: PermitTimings,
  ) {
    super();
    this.law = new SharedLaw(redis, `${redis.connections.prefix}:budgets`);
    this.terms = budgetTerms(settings);
  }

  async admit(request: AdmissionRequest): Promise<Admission> {
    const { ticket, budgets, tokens } = request;
    const named = budgets.flatMap(budget => [budget, this.terms.json(budget)]);
    const [, , binds, counted] = (await this.pumping('admit', [ticket, tokens, ...named])) as Reply;
    const uses = counted.map(useOf);
    if (binds.length === 0) return { kind: 'granted', grants: grantsOf(request), uses };
    const [budget, limit, inMs] = binds;
    return { kind: 'refused', binds: { budget, limit, inMs: inMs < 0 ? null : inMs }, uses };
  }

  async release({ lease }: Grant, tokens: number | null): Promise<void> {
    // A budget has no provider from whose answers it could learn.
    await this.pumping('release', [lease, tokens ?? '', 'ignored', '']);
  }

  async withdraw({ lease }: Grant): Promise<void> {
    await this.pumping('withdraw', [lease]);
  }

  async renew(grants: readonly Grant[]): Promise<void> {
    if (grants.length === 0) return;
    await this.law.run('renew', [this.timings.leaseMs, ...grants.map(grant => grant.lease)]);
  }

  async forgetUnused(): Promise<void> {
    for (let worthwhile = true; worthwhile;) {
      const reply = await this.pumping('sweep', [this.cursor, FIELDS_AT_ONCE]);
      const [, , cursor, seen, forgotten] = reply as SweepReply;
      this.cursor = cursor;
      worthwhile = forgotten > seen * WORTHWHILE;
    }
  }

  /** Nobody waits for a budget, so there is nobody to tell of grants. */
  private pumping(name: keyof typeof SCRIPTS, values: readonly (string | number)[]): Promise<unknown> {
    return this.law.run(name, ['', '', this.timings.claimMs, ...values]);
  }
}

function useOf([budget, limit, admitted, used, emptyInMs]: UseReply): BudgetUse {
  return { budget, limit, admitted, used, emptyInMs };
}
