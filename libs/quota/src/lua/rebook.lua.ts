import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: books a call under way with so many tokens instead, and grants what is free then. Nothing for a lease that has ended.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 lease · 5 tokens.
 * Returns: wake, grants.
 */
export const REBOOK = `${STATE}${RING}${WAITS}${LAW}${PUMP}
local record = ticket_of(ARGV[4])
if record and record.model then
  rebook(model_of(record.model), record, tonumber(ARGV[5]))
  save_ticket(ARGV[4], record)
  pump_later(record.model)
end
forget_expired()
pump()
return answer()
`;
