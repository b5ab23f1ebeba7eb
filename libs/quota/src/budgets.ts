import type { LimitSettings } from '@spillway/contracts';
import type { Grant, LimitUse } from './permits';

/** A call that is to be counted on several budgets: on each of them, or on none. */
export interface AdmissionRequest {
  /** Unique to this call: `[A-Za-z0-9_-]`, never a plain integer. */
  readonly ticket: string;
  /** Names of budgets, never empty. */
  readonly budgets: readonly string[];
  /** Tokens to reserve. */
  readonly tokens: number;
}

/** How much of a limit of a minute is used. */
export interface BudgetUse extends LimitUse {
  readonly budget: string;
  /** Milliseconds until nothing of it is used any more, if nothing is added. */
  readonly emptyInMs: number;
}

/** What can refuse a call; budgets neither grow nor learn from answers. */
export type BudgetLimit = keyof LimitSettings;

/** What refuses a call, and in how many ms that may change; null: when a call ends. */
export interface BudgetRefusal {
  readonly budget: string;
  readonly limit: BudgetLimit;
  readonly inMs: number | null;
}

/** `uses`: what the budgets hold after the decision. */
export type Admission =
  | { readonly kind: 'granted'; readonly grants: readonly Grant[]; readonly uses: readonly BudgetUse[] }
  /** `binds`: of several refusals the one that lasts longest. */
  | { readonly kind: 'refused'; readonly binds: BudgetRefusal; readonly uses: readonly BudgetUse[] };

/** The grants of a call that was admitted; also of one of which nobody knows whether it was. */
export function grantsOf({ ticket, budgets }: AdmissionRequest): readonly Grant[] {
  return budgets.map((budget, index) => {
    const lease = `${ticket}-${index}`;
    return { ticket: lease, model: budget, lease };
  });
}

/**
 * What callers may use, by the law of the models but without classes and without waiting: a call is admitted at once or
 * refused. Budgets come and go by name; those that nobody uses are forgotten.
 */
export abstract class Budgets {
  abstract admit(request: AdmissionRequest): Promise<Admission>;

  /** Ends a call with the tokens it used; null keeps the estimate. A second time does nothing. */
  abstract release(grant: Grant, tokens: number | null): Promise<void>;

  /** Ends a call as if it had never been made. */
  abstract withdraw(grant: Grant): Promise<void>;

  /** Keeps the leases of calls under way; must be called at least every `leaseMs / 3`. */
  abstract renew(grants: readonly Grant[]): Promise<void>;

  /** Forgets budgets that nobody uses: not always all of them, but so many that they cannot pile up. */
  abstract forgetUnused(): Promise<void>;
}
