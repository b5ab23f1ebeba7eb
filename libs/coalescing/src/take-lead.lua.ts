/**
 * Takes the lead of a flight unless somebody has it.
 * KEYS[1] the lead of a flight
 * ARGV[1] what it is to hold
 * ARGV[2] milliseconds until it ends by itself
 * Returns what it holds already; empty: it was free and is taken.
 */
export const TAKE_LEAD = `
local held = redis.call('GET', KEYS[1])
if held then return held end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ''
`;
