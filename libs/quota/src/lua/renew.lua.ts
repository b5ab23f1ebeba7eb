import { STATE } from './state.lua';

/**
 * Does: moves the expiry of leases on; leases that have ended stay ended.
 * KEYS: see STATE.
 * ARGV: 1 lease ms · then the leases.
 * Returns: nothing.
 */
export const RENEW = `${STATE}
local till = score(now + ARGV[1])
for at = 2, #ARGV do redis.call('ZADD', LEASES, 'XX', till, ARGV[at]) end
`;
