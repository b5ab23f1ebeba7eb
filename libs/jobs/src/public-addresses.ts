import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Addresses that are not of the public Internet: of this machine, of networks around it, or of special use. */
const SPECIAL_4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
/** Of version 6 only what is assigned for the Internet is public, less what carries other addresses inside. */
const GLOBAL_6: readonly [string, number] = ['2000::', 3];
const SPECIAL_6: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const special = new BlockList();
for (const [network, bits] of SPECIAL_4) special.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of SPECIAL_6) special.addSubnet(network, bits, 'ipv6');
const global6 = new BlockList();
global6.addSubnet(...GLOBAL_6, 'ipv6');

/** Whether an IP address is one that anybody may be reached at. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      return global6.check(address, 'ipv6') && !special.check(address, 'ipv6');
    default:
      return false;
  }
}

/**
 * Resolves names for a connection, and fails where any of the addresses is not allowed: the connection is made to an
 * address that was checked, whatever the name means a moment later.
 */
export function checkedLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null) return callback(error, '');
      if (first === undefined || !addresses.every(({ address }) => isAllowed(address))) {
        return callback(new Error('The host has an address that results may not be sent to.'), '');
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
