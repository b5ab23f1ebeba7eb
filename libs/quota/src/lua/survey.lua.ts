import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: counts what waits and what is under way.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms.
 * Returns: wake, grants, waits by class, and pairs of model and calls in flight.
 */
export const SURVEY = `${STATE}${RING}${WAITS}${LAW}${PUMP}
forget_expired()
pump()
local depths, inflight = {}, {}
for class = 1, CLASSES do depths[class] = redis.call('ZCARD', QUEUES[class]) end
for _, name in ipairs(redis.call('HKEYS', LAW)) do
  if not string.find(name, '\\31') then
    local counts = model_of(name).state.inflight
    table.insert(inflight, { name, counts[1] + counts[2] + counts[3] })
  end
end
return answer(depths, inflight)
`;
