/**
 * Shared by the scripts that change who may call. Does: hands permits that are free to the best waits, forgets what
 * has expired, and finds out when to look again. Needs STATE, WAITS, LAW; sets \`me\` to the calling process.
 */
export const PUMP = `
local me, CHANNEL, CLAIM_MS = ARGV[1], ARGV[2], tonumber(ARGV[3])
local RATE_MS = 30000
local mine, wake = {}, nil
local to_pump, in_line = {}, {}

local function pump_later(name)
  if in_line[name] then return end
  in_line[name] = true
  table.insert(to_pump, name)
end

local function wake_at(at)
  if not wake or at < wake then wake = at end
end

-- While a class waits it earns its min_share of every grant; with a whole one earned it goes first.
local function book_credits(name, model, class)
  for other = 2, CLASSES do
    local earned = 0
    if other == class or first(WAITS, name, other) then
      earned = math.min(model.state.credit[other] + ((model.terms.min_share or {})[other] or 0), 2)
    end
    model.state.credit[other] = other == class and math.max(0, earned - 1) or earned
  end
end

-- How fast waiting calls are served: grants over the time in which somebody waited, both fading.
local function book_rate(model, waits)
  local gone = model.state.since > 0 and math.max(0, now - model.state.since) or 0
  local fade = math.exp(-gone / RATE_MS)
  model.state.busy = model.state.busy * fade + gone
  model.state.served = model.state.served * fade + (model.served or 0)
  model.state.since = waits and now or 0
  model.served = 0
  model.dirty = true
end

-- Makes a call under way of a ticket; of a wait only what ends the call is kept.
local function grant(id, name, class, tokens)
  local model = model_of(name)
  save_ticket(id, take(model, class, tokens))
  book_credits(name, model, class)
  redis.call('ZADD', LEASES, score(now + CLAIM_MS), id)
end

local function grant_wait(id, record, name)
  local model = model_of(name)
  remove_wait(id, record)
  grant(id, name, record.class, record.tokens)
  model.served = (model.served or 0) + 1
  for _, other in ipairs(record.models) do pump_later(other) end
  if record.worker == me then
    table.insert(mine, id)
    table.insert(mine, name)
  else
    redis.call('PUBLISH', CHANNEL .. record.worker, cjson.encode({ ticket = id, model = name, lease = id }))
  end
end

-- The end of a wait. What has none would never go, and everybody would wait behind it.
local function end_of(class, id)
  return tonumber(redis.call('ZSCORE', QUEUES[class], id) or error('a wait is in no queue'))
end

-- The wait that a free permit of the model goes to, if its limits allow one now.
local function next_wait(name, model)
  for class = CLASSES, 2, -1 do
    if model.state.credit[class] >= 1 then
      local id, record = best_reached(name, class)
      if id and admits(model, class, record.tokens, 'guarantee') then return id, record end
    end
  end
  local class, top = top_of(name)
  if not class then return nil end
  local id, record = best_reached(name, class)
  if not id and not first(REACHED, name) then return nil end
  wake_at(end_of(class, top))
  if not id then return nil end
  local ok, limit, when = admits(model, class, record.tokens)
  if ok then return id, record end
  local at = when and when()
  if at then wake_at(at) end
  local lease = redis.call('ZRANGE', LEASES, 0, 0, 'WITHSCORES')
  if lease[2] then
    wake_at(tonumber(lease[2]))
  elseif limit == 'inflight' then
    error('calls under way have no leases')
  end
  return nil
end

-- A wait that can have several models gets the first of its chain, in whatever order they are pumped.
local function preferred(id, record, name)
  for _, other in ipairs(record.models) do
    if other == name or next_wait(other, model_of(other)) == id then return other end
  end
end

local function pump_model(name, model)
  while true do
    local id, record = next_wait(name, model)
    if not id then break end
    grant_wait(id, record, preferred(id, record, name))
  end
  book_rate(model, first(WAITS, name) ~= nil)
end

-- finish: settle or cancel.
local function end_lease(id, record, finish, used)
  redis.call('ZREM', LEASES, id)
  redis.call('HDEL', TICKETS, id)
  finish(model_of(record.model), record, used)
  pump_later(record.model)
end

local function forget_wait(id, record)
  remove_wait(id, record)
  redis.call('HDEL', TICKETS, id)
  for _, model in ipairs(record.models) do pump_later(model) end
end

local function forget_expired()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', NOW, 'LIMIT', 0, 100)) do
    end_lease(id, kept(id), settle)
  end
  for class = 1, waiting and CLASSES or 0 do
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', QUEUES[class], '-inf', NOW, 'LIMIT', 0, 100)) do
      forget_wait(id, kept(id))
    end
  end
end

-- Pumps every model that something has changed for; a grant may unblock the other models of its chain.
local function pump()
  local at = 1
  while to_pump[at] do
    local name = to_pump[at]
    in_line[name] = nil
    local model = model_of(name)
    if first(WAITS, name) then
      pump_model(name, model)
    elseif model.state.since > 0 then
      book_rate(model, false)
    end
    at = at + 1
  end
end

-- What every script that pumps returns: ms until something can be admitted (-1: not known), grants to waits that the
-- calling process reached, and an answer of its own.
local function answer(...)
  save_models()
  return { wake and math.max(0, math.ceil(wake - now)) or -1, mine, ... }
end
`;
