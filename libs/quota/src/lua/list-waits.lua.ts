import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: lists the waits of a class, those that end first before the others.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 class · 5 how many at most.
 * Returns: wake, grants, and for each wait its ticket, its models, its tokens, the ms it has waited and the ms until its
 *   end, and 1 where a living worker has reached it, else 0.
 */
export const LIST_WAITS = `${STATE}${RING}${WAITS}${LAW}${PUMP}
forget_expired()
pump()
local list = {}
for _, id in ipairs(redis.call('ZRANGE', QUEUES[tonumber(ARGV[4])], 0, tonumber(ARGV[5]) - 1)) do
  local record = ticket_of(id)
  if record then
    local reached = record.worker ~= '' and is_alive(record.worker)
    local waited, left = now - (record.since or now), math.max(0, record.till - now)
    table.insert(list, { id, record.models, record.tokens, waited, left, reached and 1 or 0 })
  end
end
return answer(list)
`;
