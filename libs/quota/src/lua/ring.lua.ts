import type { RingShape } from '../ring';
import { DAY, GROWTH_BUCKETS, MINUTE, TRAVEL_SPREAD_MS } from '../shapes';

function shapeInLua(name: string, { width, ages, lanes }: RingShape): string {
  return `{ name = '${name}', width = ${width}, ages = { ${ages.join(', ')} }, lanes = ${lanes} }`;
}

/**
 * Shared by all scripts that decide. Does: counts what happened in the last minutes, by the rules of ring.ts. The open
 * bucket and the sums live in the state of the model, earlier buckets in the hash BUCKETS. Needs STATE.
 */
export const RING = `
local MINUTE = ${shapeInLua('minute', MINUTE)}
local DAY = ${shapeInLua('day', DAY)}

local function growth_shape(growth)
  local width = growth.per_s * 1000 / ${GROWTH_BUCKETS}
  local spare = math.min(math.ceil(${TRAVEL_SPREAD_MS} / width), ${GROWTH_BUCKETS / 4})
  local ages = { ${GROWTH_BUCKETS} + spare, ${2 * GROWTH_BUCKETS - 1} - spare }
  return { name = 'growth', width = width, ages = ages, lanes = CLASSES }
end

local function zeros(count)
  local list = {}
  for at = 1, count do list[at] = 0 end
  return list
end

local function fields_of(name, shape, from, to)
  local fields = {}
  for bucket = from, to do fields[#fields + 1] = string.format('%s\\31%s\\31%.0f', name, shape.name, bucket) end
  return fields
end

local function drop_buckets(name, shape, ring)
  redis.call('HDEL', BUCKETS, unpack(fields_of(name, shape, ring.first, ring.at)))
end

-- first: the earliest bucket that may hold anything. latest: the last in which anything was counted.
local function new_ring(shape, bucket)
  local sums = {}
  for window = 1, #shape.ages do sums[window] = zeros(shape.lanes) end
  return { width = shape.width, at = bucket, first = bucket, latest = 0, open = zeros(shape.lanes), sums = sums }
end

local function close_bucket(name, shape, ring)
  for lane = 1, shape.lanes do
    if ring.open[lane] ~= 0 then
      redis.call('HSET', BUCKETS, fields_of(name, shape, ring.at, ring.at)[1], cmsgpack.pack(ring.open))
      ring.open = zeros(shape.lanes)
      return
    end
  end
end

local function leave(name, shape, ring, window, from, to)
  from = math.max(from, ring.first)
  if to < from then return end
  local fields = fields_of(name, shape, from, to)
  local sums = ring.sums[window]
  local found = false
  for _, packed in ipairs(redis.call('HMGET', BUCKETS, unpack(fields))) do
    if packed then
      found = true
      for lane, amount in ipairs(cmsgpack.unpack(packed)) do sums[lane] = sums[lane] - amount end
    end
  end
  if found and window == #shape.ages then redis.call('HDEL', BUCKETS, unpack(fields)) end
end

-- A ring of a model, moved on to now.
local function ring_of(model, shape)
  local name, ring = model.name, model.state[shape.name]
  local bucket = math.floor(model.time / shape.width)
  local fits = ring and ring.width == shape.width and #ring.open == shape.lanes
  if fits and ring.at >= bucket then return ring end
  model.dirty = true
  if not fits or bucket - ring.at > shape.ages[#shape.ages] then
    if ring then drop_buckets(name, shape, ring) end
    model.state[shape.name] = new_ring(shape, bucket)
    return model.state[shape.name]
  end
  close_bucket(name, shape, ring)
  for window, age in ipairs(shape.ages) do
    leave(name, shape, ring, window, ring.at - age, math.min(ring.at, bucket - age - 1))
  end
  ring.at = bucket
  ring.first = math.max(ring.first, bucket - shape.ages[#shape.ages])
  return ring
end

-- Adds to a lane, in the open bucket or an earlier one, as far as the windows still count that.
local function add(model, shape, ring, lane, amount, bucket)
  if amount == 0 then return end
  bucket = bucket or ring.at
  if bucket < ring.at - shape.ages[#shape.ages] then return end
  ring.latest = math.max(ring.latest, bucket)
  if bucket == ring.at then
    ring.open[lane] = ring.open[lane] + amount
  else
    local field = fields_of(model.name, shape, bucket, bucket)[1]
    local packed = redis.call('HGET', BUCKETS, field)
    local amounts = packed and cmsgpack.unpack(packed) or zeros(shape.lanes)
    amounts[lane] = amounts[lane] + amount
    redis.call('HSET', BUCKETS, field, cmsgpack.pack(amounts))
  end
  for window, age in ipairs(shape.ages) do
    if bucket >= ring.at - age then ring.sums[window][lane] = ring.sums[window][lane] + amount end
  end
  model.dirty = true
end

-- The first moment at which fits holds for what a ring's first window then still counts; nil: never. Reads a few
-- buckets at a time, because the oldest are nearly always enough.
local function when_fits(model, shape, ring, fits)
  local left, age = {}, shape.ages[1]
  for lane = 1, shape.lanes do left[lane] = ring.sums[1][lane] end
  local function fits_without(bucket, amounts)
    for lane = 1, shape.lanes do left[lane] = left[lane] - amounts[lane] end
    return fits(left) and (bucket + age + 1) * shape.width - model.state.ahead
  end
  for from = math.max(ring.at - age, ring.first), ring.at - 1, 16 do
    local to = math.min(from + 15, ring.at - 1)
    for offset, packed in ipairs(redis.call('HMGET', BUCKETS, unpack(fields_of(model.name, shape, from, to)))) do
      local at = packed and fits_without(from + offset - 1, cmsgpack.unpack(packed))
      if at then return at end
    end
  end
  return fits_without(ring.at, ring.open) or nil
end

-- The moment from which a window of a ring counts nothing, if nothing is added.
local function when_empty(model, shape, ring, window)
  return (ring.latest + shape.ages[window] + 1) * shape.width - model.state.ahead
end
`;
