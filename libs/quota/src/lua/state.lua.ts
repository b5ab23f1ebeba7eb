/**
 * Shared by all scripts. Does: names the keys, reads the clock, loads and saves the state of models and tickets.
 *
 * KEYS, the same for every script, all under one hash tag:
 *  1 law      hash  model → state (msgpack): calls in flight, credits, windows; model and `terms` → terms (JSON)
 *  2 tickets  hash  ticket → record (msgpack): a wait, or a call under way once it has a model in `g`
 *  3 waits    zset  by name: model, class, turnBy, arrival, ticket: every wait, once per model of its chain
 *  4 reached  zset  the same names, of waits that a living worker has reached
 *  5 leases   zset  ticket by expiry
 *  6 workers  zset  process by its last sign of life
 *  7–9        zset  ticket by the end of its wait: the queue of each class
 *  10 buckets hash  model, window, bucket → what was counted in it (msgpack)
 *
 * Classes are numbered 1 (critical) to 3 (low). Times are milliseconds of Redis' own clock, but turnBy, which only
 * orders, is of the owner's.
 */
export const STATE = `
local LAW, TICKETS, WAITS, REACHED, LEASES, WORKERS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local QUEUES, BUCKETS = { KEYS[7], KEYS[8], KEYS[9] }, KEYS[10]
local CLASSES = 3
local SILENT_MS = 400

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Scores as text: the server would print and parse a number many times slower.
local function score(at) return string.format('%.0f', at) end
local NOW = score(now)

local models = {}

-- The state and the terms of a model, loaded once per run; whoever changes the state sets dirty.
local function model_of(name)
  local model = models[name]
  if model then return model end
  local stored = redis.call('HMGET', LAW, name, name .. '\\31terms')
  model = {
    name = name,
    state = stored[1] and cmsgpack.unpack(stored[1])
      or { inflight = { 0, 0, 0 }, credit = { 0, 0, 0 }, served = 0, busy = 0, since = 0, ahead = 0, last = now },
    told = stored[2],
    terms = stored[2] and cjson.decode(stored[2]) or {},
  }
  -- While the clock is set back the windows stand still: they count for longer than they must, never for less.
  local state = model.state
  state.ahead = state.ahead + math.max(0, state.last - now)
  state.last = now
  model.time = now + state.ahead
  models[name] = model
  return model
end

-- Takes over what the caller's configuration says about a model.
local function tell(name, told)
  local model = model_of(name)
  if model.told == told then return end
  model.told, model.terms = told, cjson.decode(told)
  redis.call('HSET', LAW, name .. '\\31terms', told)
end

local function save_models()
  for name, model in pairs(models) do
    local state = model.state
    local busy = state.since > 0 or state.inflight[1] + state.inflight[2] + state.inflight[3] > 0
    if not busy and not model.terms.limited and not model.terms.climb then
      -- Callers may name models without end; only what is configured is worth remembering when nobody uses it.
      redis.call('HDEL', LAW, name, name .. '\\31terms')
    elseif model.dirty then
      redis.call('HSET', LAW, name, cmsgpack.pack(state))
    end
  end
end

local function ticket_of(id)
  local packed = redis.call('HGET', TICKETS, id)
  return packed and cmsgpack.unpack(packed)
end

-- The record of a ticket that others name. Without it nobody could say what to take back: then all begins anew.
local function kept(id) return ticket_of(id) or error('a ticket is lost') end

local function save_ticket(id, record)
  redis.call('HSET', TICKETS, id, cmsgpack.pack(record))
end
`;
