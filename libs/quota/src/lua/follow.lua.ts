import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/** Without a sign of life for so long a process has no share of the limits, and its callers are gone, ms. */
const GONE_MS = 3_000;
/** Waits of a class that are looked at each time, the first whose time is over first. */
const WAITS_AT_ONCE = 100;

/**
 * Does: shows that the calling process lives, forgets waits of processes that do not, and tells what the caller must
 *   know to keep its share of the limits by itself.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms.
 * Returns: wake, grants, how many processes live, and for each limited model its name, the calls and tokens booked since
 *   it is known, and the calls and tokens of its minute and the tokens of its day.
 */
export const FOLLOW = `${STATE}${RING}${WAITS}${LAW}${PUMP}
local GONE = score(now - ${GONE_MS})
local living = {}
for _, process in ipairs(redis.call('ZRANGEBYSCORE', WORKERS, GONE, '+inf')) do living[process] = true end
living[me] = true

-- Whoever is not gone after all enters its waits again.
local function forget_orphans(class)
  local ids = redis.call('ZRANGE', QUEUES[class], 0, ${WAITS_AT_ONCE - 1})
  for _, id in ipairs(ids) do
    local record = ticket_of(id)
    if record and record.owner and not living[record.owner] then forget_wait(id, record) end
  end
end

local function total(sums, lane) return math.ceil(sums[lane + 1] + sums[lane + 2] + sums[lane + 3]) end

show_life(me)
redis.call('ZREMRANGEBYSCORE', WORKERS, '-inf', score(now - 60 * SILENT_MS))
forget_expired()
for class = 1, waiting and CLASSES or 0 do forget_orphans(class) end
pump()
local uses = {}
for _, name in ipairs(redis.call('HKEYS', LAW)) do
  local model = not string.find(name, '\\31', 1, true) and model_of(name)
  if model and model.terms.limited then
    local spent = model.state.spent or { 0, 0 }
    local minute = ring_of(model, MINUTE).sums[1]
    local day = (model.terms.tpd or 0) > 0 and total(ring_of(model, DAY).sums[1], 0) or 0
    table.insert(uses, { name, spent[1], math.ceil(spent[2]), total(minute, 0), total(minute, CLASSES), day })
  end
end
return answer(redis.call('ZCOUNT', WORKERS, GONE, '+inf'), uses)
`;
