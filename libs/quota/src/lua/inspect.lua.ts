import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: tells where tickets are; a wait whose worker has died becomes unreached again.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · then the tickets.
 * Returns: wake, grants, and a list with `granted:` and the model, `reached`, `queued` or `gone` for each ticket.
 */
export const INSPECT = `${STATE}${RING}${WAITS}${LAW}${PUMP}
forget_expired()
pump()
local states = {}
for at = 4, #ARGV do
  local record = ticket_of(ARGV[at])
  local state = 'queued'
  if not record then
    state = 'gone'
  elseif record.model then
    state = 'granted:' .. record.model
  elseif record.worker ~= '' then
    if is_alive(record.worker) then state = 'reached' else mark_unreached(ARGV[at], record) end
  end
  table.insert(states, state)
end
return answer(states)
`;
