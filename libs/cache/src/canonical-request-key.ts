import { hash } from 'node:crypto';
import type { RequestIdentity } from './request-key';

/** Raised whenever a key changes its meaning: what older versions stored is then not found. */
const VERSION = 1;

/**
 * The same text for requests that ask the same in other function words and are otherwise equal, for the same caller,
 * scope and route.
 * @param fingerprint equal for requests that differ in nothing but what is asked
 * @param canonical what is asked, without politeness and function words
 */
export function canonicalRequestKey(
  { namespace, scope, route, generation }: RequestIdentity,
  fingerprint: string,
  canonical: string,
): string {
  const parts = ['canonical', VERSION, namespace, scope, route, generation, fingerprint, canonical];
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
