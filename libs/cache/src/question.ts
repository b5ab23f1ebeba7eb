import type { CacheRule, Question, RouteCacheSettings } from '@spillway/contracts';
import { refusingRule } from './language/admission-rules';
import { canonicalKey } from './language/canonical-key';
import type { RequestIdentity } from './request-key';
import { askedText } from './scope-fingerprint';

export interface ReadQuestion {
  /** Null where it is not to be compared, or says nothing. */
  readonly question: Question | null;
  /** What it asks, without politeness and function words; null where there is no question. */
  readonly canonical: string | null;
  /** The rule that forbids it; null: none does. */
  readonly refusedBy: CacheRule | null;
}

/** Reads what a request asks, unless a rule keeps it from all but its exact key. */
export function readQuestion(
  { namespace, generation, beta, body }: RequestIdentity,
  rules: RouteCacheSettings['rules'],
): ReadQuestion {
  const asked = askedText(body, beta);
  if (asked === null) return { question: null, canonical: null, refusedBy: null };
  const refusedBy = refusingRule(body, asked.text, rules);
  const canonical = refusedBy === null ? canonicalKey(asked.text) : null;
  if (canonical === null) return { question: null, canonical, refusedBy };
  return { question: { namespace, generation, ...asked }, canonical, refusedBy };
}
