/**
 * Shared by all scripts but renew. Does: keeps the waits in order and finds the best one of a model. Needs STATE.
 *
 * \`\\31\` separates the parts of a name and sorts below everything that can be in one; 32 is the character after it.
 */
export const WAITS = `
local function name_in(model, id, record)
  return string.format('%s\\31%d\\31%017.3f\\31%012d\\31%s', model, record.class, record.by, record.n, id)
end

-- Whether anybody waits at all: most of the time nobody does, and nothing needs to be looked for.
local waiting = redis.call('EXISTS', WAITS) == 1

local function first(key, model, class)
  if not waiting then return nil end
  local from = model .. '\\31' .. (class and class .. '\\31' or '')
  local to = class and model .. '\\31' .. class .. '\\32' or model .. '\\32'
  return redis.call('ZRANGEBYLEX', key, '[' .. from, '(' .. to, 'LIMIT', 0, 1)[1]
end

local function id_in(name) return string.match(name, '[^\\31]*$') end

-- The most important class that waits for a model, and the ticket of its best wait.
local function top_of(model)
  local name = first(WAITS, model)
  if not name then return nil end
  return tonumber(string.sub(name, #model + 2, #model + 2)), id_in(name)
end

local function waits_before(model, name)
  return redis.call('ZLEXCOUNT', WAITS, '[' .. model .. '\\31', '(' .. name)
end

local function add_wait(id, record)
  waiting = true
  for _, model in ipairs(record.models) do
    redis.call('ZADD', WAITS, 0, name_in(model, id, record))
    local waited = model_of(model)
    if waited.state.since == 0 then
      waited.state.since = now
      waited.dirty = true
    end
  end
  redis.call('ZADD', QUEUES[record.class], score(record.till), id)
  save_ticket(id, record)
end

local function mark_reached(id, record, worker)
  record.worker = worker
  save_ticket(id, record)
  for _, model in ipairs(record.models) do redis.call('ZADD', REACHED, 0, name_in(model, id, record)) end
end

local function mark_unreached(id, record)
  record.worker = ''
  save_ticket(id, record)
  for _, model in ipairs(record.models) do redis.call('ZREM', REACHED, name_in(model, id, record)) end
end

local function remove_wait(id, record)
  for _, model in ipairs(record.models) do
    local name = name_in(model, id, record)
    redis.call('ZREM', WAITS, name)
    redis.call('ZREM', REACHED, name)
  end
  redis.call('ZREM', QUEUES[record.class], id)
  waiting = redis.call('EXISTS', WAITS) == 1
end

local alive = {}

local function is_alive(worker)
  if alive[worker] == nil then
    local seen = redis.call('ZSCORE', WORKERS, worker)
    alive[worker] = seen and now - seen < SILENT_MS or false
  end
  return alive[worker]
end

local function show_life(worker)
  redis.call('ZADD', WORKERS, NOW, worker)
  alive[worker] = true
end

-- The best wait of a class that can be told of a grant; waits of dead workers go back to unreached on the way.
local function best_reached(model, class)
  while true do
    local name = first(REACHED, model, class)
    if not name then return nil end
    local id = id_in(name)
    local record = kept(id)
    if is_alive(record.worker) then return id, record end
    mark_unreached(id, record)
  end
end
`;
