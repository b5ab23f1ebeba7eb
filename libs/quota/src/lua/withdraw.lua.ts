import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: forgets a wait; gives its permit back if it has one, as if it had never been used.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 ticket.
 * Returns: wake, grants.
 */
export const WITHDRAW = `${STATE}${RING}${WAITS}${LAW}${PUMP}
forget_expired()
local record = ticket_of(ARGV[4])
if record and record.model then
  end_lease(ARGV[4], record, cancel)
elseif record then
  forget_wait(ARGV[4], record)
end
pump()
return answer()
`;
