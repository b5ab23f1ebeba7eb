import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: marks a wait as reached by the calling process, and grants what is free.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 ticket.
 * Returns: wake, grants, and `granted` model | `waiting` ms until it expires, models | `gone`.
 */
export const REACH = `${STATE}${RING}${WAITS}${LAW}${PUMP}
local id = ARGV[4]
show_life(me)
forget_expired()
local record = ticket_of(id)
if record and not record.model then
  mark_reached(id, record, me)
  for _, model in ipairs(record.models) do pump_later(model) end
end
pump()

if not record or record.model then return answer('gone') end
for at = 1, #mine, 2 do
  if mine[at] == id then
    local model = mine[at + 1]
    table.remove(mine, at)
    table.remove(mine, at)
    return answer('granted', model)
  end
end
return answer('waiting', math.ceil(record.till - now), record.models)
`;
