import type { QuotaSettings, Shares } from './limits';
import { TermsBook } from './terms';

/** What limits a budget; asked at every decision. */
export type BudgetSettings = Pick<QuotaSettings, 'limitsOf'>;

const WHOLE = { share: 1, min_share: 0 };
const NO_CLASSES: Shares = { critical: WHOLE, normal: WHOLE, low: WHOLE };

export function budgetTerms(settings: BudgetSettings): TermsBook {
  return new TermsBook({ limitsOf: budget => settings.limitsOf(budget), shares: () => NO_CLASSES });
}
