import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: grants a permit at once where `express` allows it, else registers a wait.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 ticket · 5 class · 6 turnBy · 7 ms until then · 8 tokens ·
 *   9 express (1 or 0) · 10 queue limit · then for each model of the chain its name and its terms (JSON).
 * Returns: wake, grants, and `granted` model | `queued` ahead estimate (-1: not known) what refused it the first model
 *   of its chain (`order`: others wait; empty: nothing was tried) ms until its limits may admit it | `full` retry after
 *   ms.
 */
export const ENTER = `${STATE}${RING}${WAITS}${LAW}${PUMP}
local id, class, express = ARGV[4], tonumber(ARGV[5]), ARGV[9] == '1'
local limit = tonumber(ARGV[10])
local record = { models = {}, class = class, tokens = tonumber(ARGV[8]), owner = me, worker = '' }
for at = 11, #ARGV, 2 do
  table.insert(record.models, ARGV[at])
  tell(ARGV[at], ARGV[at + 1])
end

-- The rate at which the models of the chain serve waiting calls, a ms; nil while too few were seen.
local function rate_of(names)
  local rate = 0
  for _, name in ipairs(names) do
    local model = model_of(name)
    if model.state.served >= 10 and model.state.busy > 0 then rate = rate + model.state.served / model.state.busy end
  end
  return rate > 0 and rate or nil
end

-- The ms until the limits of a model may admit the call, as far as time alone tells (0: at any time), and until they can
-- at the earliest: where a provider asked to be left alone, or has had its calls of a minute, nothing else frees them.
local function free_in(record)
  local likely, surely = math.huge, math.huge
  for _, name in ipairs(record.models) do
    local model = model_of(name)
    local ok, limit, when = admits(model, record.class, record.tokens)
    local at = not ok and when and when()
    local ms = at and math.max(0, math.ceil(at - now)) or 0
    likely = math.min(likely, ms)
    surely = math.min(surely, math.max(rest_of(model), limit == 'rpm' and ms or 0))
  end
  return likely, surely
end

local function position(id, record, binds)
  local ahead = 0
  for _, name in ipairs(record.models) do ahead = math.max(ahead, waits_before(name, name_in(name, id, record))) end
  local likely, surely = free_in(record)
  local rate = rate_of(record.models)
  local estimate = surely > 0 and surely or -1
  if rate then estimate = math.max(surely, math.ceil(ahead / rate)) end
  return answer('queued', ahead, estimate, binds, likely)
end

forget_expired()
pump()

local known = ticket_of(id)
if known then
  if known.model then return answer('granted', known.model) end
  return position(id, known, '')
end

local binds = ''
if express then
  for _, name in ipairs(record.models) do
    local top = top_of(name)
    local ok, limit = false, 'order'
    if not (top and top <= class) then ok, limit = admits(model_of(name), class, record.tokens) end
    if ok then
      grant(id, name, class, record.tokens)
      return answer('granted', name)
    end
    if binds == '' then binds = limit end
  end
end

if redis.call('ZCARD', QUEUES[class]) >= limit then
  local rate = rate_of(record.models)
  return answer('full', math.max((free_in(record)), rate and math.ceil(1 / rate) or 1000))
end
record.by, record.till, record.since = tonumber(ARGV[6]), now + math.ceil(tonumber(ARGV[7])), now
record.n = redis.call('HINCRBY', LAW, '\\31arrivals', 1)
add_wait(id, record)
return position(id, record, binds)
`;
