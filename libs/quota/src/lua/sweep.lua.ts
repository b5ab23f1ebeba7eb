import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: ends the leases that have expired, looks at some of the budgets, and forgets those on which nobody calls and
 *   whose windows are empty.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 where to go on (0: at the start) · 5 how many fields to
 *   look at.
 * Returns: wake, grants, where to go on, how many budgets there were, how many of them are forgotten.
 */
export const SWEEP = `${STATE}${RING}${WAITS}${LAW}${PUMP}
local function is_over(model, shape)
  local ring = model.state[shape.name]
  return not ring or when_empty(model, shape, ring, #shape.ages) <= now
end

local function is_unused(model)
  local calls = model.state.inflight
  return calls[1] + calls[2] + calls[3] == 0 and is_over(model, MINUTE) and is_over(model, DAY)
end

local function forget(model)
  for _, shape in ipairs({ MINUTE, DAY }) do
    local ring = model.state[shape.name]
    if ring then drop_buckets(model.name, shape, ring) end
  end
  redis.call('HDEL', LAW, model.name, model.name .. '\\31terms')
  models[model.name] = nil
end

forget_expired()
local page = redis.call('HSCAN', LAW, ARGV[4], 'COUNT', ARGV[5])
local seen, forgotten = 0, 0
for at = 1, #page[2], 2 do
  local name = page[2][at]
  if not string.find(name, '\\31', 1, true) then
    seen = seen + 1
    if is_unused(model_of(name)) then
      forget(model_of(name))
      forgotten = forgotten + 1
    end
  end
end
return answer(page[1], seen, forgotten)
`;
