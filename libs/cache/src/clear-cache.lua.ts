/**
 * Notes a clearing of the cache.
 * KEYS[1] the clearings, a sorted set: what was cleared → its sequence number
 * ARGV[1] what is cleared
 * ARGV[2] the name for everything
 * ARGV[3] the most clearings to remember
 * Returns what was cleared and its sequence number. Sequence numbers are microseconds of the server's clock, so
 * that they grow even when the set was lost.
 */
export const CLEAR_CACHE = `
local time = redis.call('TIME')
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
local sequence = math.max(time[1] * 1000000 + time[2], (tonumber(last[2]) or 0) + 1)
local name = ARGV[1]
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then name = ARGV[2] end
if name == ARGV[2] then redis.call('DEL', KEYS[1]) end
redis.call('ZADD', KEYS[1], sequence, name)
return {name, sequence}
`;
