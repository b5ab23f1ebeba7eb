import { isIP } from 'node:net';
import { InvalidRequest } from '@spillway/contracts';

const LONGEST_URL = 2_048;
const HEADER = 'x-spillway-callback-url';

/**
 * The address of a callback, if results may be sent there.
 * @param hosts names and addresses that the operator has listed
 * @throws InvalidRequest
 */
export function callbackTarget(text: string, hosts: readonly string[]): URL {
  const url = text.length <= LONGEST_URL && URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw refused(`${HEADER} must be an http:// or https:// address without user name and password.`);
  }
  if (!isListed(hostOf(url), hosts)) throw refused(`${HEADER}: results may not be sent to this host.`);
  return url;
}

/** Whether a host or an address is listed, as it is. */
export function isListed(host: string, hosts: readonly string[]): boolean {
  return hosts.some(listed => plain(listed) === plain(host));
}

/** The name or address of a URL; an address of version 6 without its brackets. */
export function hostOf({ hostname }: URL): string {
  return plain(hostname);
}

function plain(host: string): string {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return isIP(name) === 0 ? name.replace(/\.$/, '') : name;
}

function refused(message: string): InvalidRequest {
  return new InvalidRequest(message, { param: HEADER });
}
