import { defineScript } from '@spillway/redis';

/**
 * Does: replaces records that are still as their sender knows them, or gone, and tells what is kept of the others.
 * KEYS: 1 hash model → version, a space, record (JSON).
 * ARGV: 1 channel that hears of changes · then for each move: model, version it knows (0: none), record, 1 if others
 *   should hear of it at once.
 * Returns: the time in ms, then for each move its version now, and the record if it is not the sender's.
 */
const LUA = `
local time = redis.call('TIME')
local reply = { time[1] * 1000 + math.floor(time[2] / 1000) }
local heard = false
for at = 2, #ARGV, 4 do
  local model, known, record = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  local kept = redis.call('HGET', KEYS[1], model)
  local space = kept and string.find(kept, ' ', 1, true)
  local version = space and tonumber(string.sub(kept, 1, space - 1)) or known
  if version == known then
    redis.call('HSET', KEYS[1], model, string.format('%.0f ', version + 1) .. record)
    table.insert(reply, version + 1)
    table.insert(reply, '')
    heard = heard or ARGV[at + 3] == '1'
  else
    table.insert(reply, version)
    table.insert(reply, string.sub(kept, space + 1))
  end
end
if heard then redis.call('PUBLISH', ARGV[1], '') end
return reply
`;

export const EXCHANGE_RECORDS = defineScript('exchange-records', LUA, 1);
