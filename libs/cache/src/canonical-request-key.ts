import { hash } from 'node:crypto';
import type { CacheRule, RouteCacheSettings } from '@spillway/contracts';
import { refusingRule } from './language/admission-rules';
import { canonicalKey } from './language/canonical-key';
import type { RequestIdentity } from './request-key';
import { askedText } from './scope-fingerprint';

/** Raised whenever a key changes its meaning: what older versions stored is then not found. */
const VERSION = 1;

interface CanonicalRequestKey {
  /** Null where a question is not to be compared, or says nothing. */
  readonly key: string | null;
  /** The rule that forbids it; null: none does. */
  readonly refusedBy: CacheRule | null;
}

/**
 * The same text for requests that ask the same in other function words and are otherwise equal, for the same caller,
 * scope and route.
 */
export function canonicalRequestKey(
  identity: RequestIdentity,
  rules: RouteCacheSettings['rules'],
): CanonicalRequestKey {
  const { namespace, scope, route, generation, beta, body } = identity;
  const asked = askedText(body, beta);
  if (asked === null) return { key: null, refusedBy: null };
  const refusedBy = refusingRule(body, asked.text, rules);
  if (refusedBy !== null) return { key: null, refusedBy };
  const text = canonicalKey(asked.text);
  if (text === null) return { key: null, refusedBy: null };
  const parts = ['canonical', VERSION, namespace, scope, route, generation, asked.fingerprint, text];
  return { key: hash('sha256', JSON.stringify(parts), 'base64url'), refusedBy: null };
}
