/**
 * Prolongs a lead, or gives it up.
 * KEYS[1] the lead of a flight
 * ARGV[1] what it must hold
 * ARGV[2] milliseconds from now; 0: give it up
 * Returns 1 if it was held.
 */
export const KEEP_LEAD = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then redis.call('DEL', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
`;
