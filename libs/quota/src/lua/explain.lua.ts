import { LAW } from './law.lua';
import { LEARNED_REPORT } from './learn.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: tells what the limits of a model hold and what its best wait waits for.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 model · 5 its terms (JSON).
 * Returns: wake, grants, a list of limit, what it admits, what is used; waits by class; the limit that refuses the best
 *   wait and the ms until that may change (-1: not known), empty if there is none; what was learned (JSON), empty if
 *   nothing is.
 */
export const EXPLAIN = `${STATE}${RING}${WAITS}${LAW}${LEARNED_REPORT}${PUMP}
local name = ARGV[4]
tell(name, ARGV[5])
forget_expired()
pump()
local model = model_of(name)
local terms, state, limits = model.terms, model.state, {}

local function report(limit, shape, lane)
  local admitted = terms[limit]
  if not admitted or admitted == 0 then return end
  local used = limit == 'inflight' and state.inflight or ring_of(model, shape).sums[1]
  table.insert(limits, { limit, admitted, used[lane + 1] + used[lane + 2] + used[lane + 3] })
end

report('inflight', nil, 0)
report('rpm', MINUTE, 0)
report('tpm', MINUTE, CLASSES)
report('tpd', DAY, 0)
if terms.growth then
  local sums = ring_of(model, growth_shape(terms.growth)).sums
  local used, both = sum_of(sums[1], 0), sum_of(sums[2], 0)
  table.insert(limits, { 'growth', math.floor(allowance(terms.growth, both - used)), used })
end

local waits, binds = {}, {}
for class = 1, CLASSES do
  local from = string.format('[%s\\31%d\\31', name, class)
  waits[class] = redis.call('ZLEXCOUNT', WAITS, from, string.format('(%s\\31%d\\32', name, class))
end
local _, best = top_of(name)
local record = best and ticket_of(best)
if record then
  local ok, limit, when = admits(model, record.class, record.tokens)
  if not ok then
    local at = when and when()
    binds = { limit, at and math.max(0, math.ceil(at - now)) or -1 }
  end
end
return answer(limits, waits, binds, terms.climb and cjson.encode(learned_report(model)) or '')
`;
