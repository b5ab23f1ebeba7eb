import { defineScript } from '@spillway/redis';

/**
 * Does: notes first uses, replaces states that are still as their sender knows them, and tells all that is known.
 * KEYS: 1 hash model → state (JSON) · 2 hash model → its first use (ms).
 * ARGV: 1 number of used models · their names · then for each move: model, state before (empty: none), state after.
 * Returns: the time in ms, pairs of model and state, pairs of model and first use.
 */
const LUA = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local used = tonumber(ARGV[1])
for at = 2, used + 1 do redis.call('HSETNX', KEYS[2], ARGV[at], string.format('%.0f', now)) end
for at = used + 2, #ARGV, 3 do
  local known = redis.call('HGET', KEYS[1], ARGV[at])
  if (known or '') == ARGV[at + 1] then redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 2]) end
end
return { now, redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }
`;

export const EXCHANGE = defineScript('exchange', LUA, 2);
