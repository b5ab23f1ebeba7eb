import { LAW } from './law.lua';
import { LESSON } from './learn.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: ends the lease of a call, learns from its answer, and grants what is free then. Nothing for a lease that has ended already.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 lease · 5 tokens used (empty: not known) · 6 how the call
 *   ended · 7 what its answer told of limits (JSON without nulls; empty: nothing).
 * Returns: wake, grants.
 */
export const RELEASE = `${STATE}${RING}${WAITS}${LAW}${LESSON}${PUMP}
local record = ticket_of(ARGV[4])
if record and record.model then
  end_lease(ARGV[4], record, settle, tonumber(ARGV[5]))
  learn(model_of(record.model), record, ARGV[6], ARGV[7] ~= '' and cjson.decode(ARGV[7]) or nil)
end
forget_expired()
pump()
return answer()
`;
