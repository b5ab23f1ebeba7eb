import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: books what a process has admitted by itself: calls that have ended in the windows, calls under way as calls of
 *   their own, each once.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 lease ms · then for each use: ticket (empty: the calls have
 *   ended), model, its terms (JSON), class, calls, tokens, ms since then.
 * Returns: wake, grants.
 */
export const CATCH_UP = `${STATE}${RING}${WAITS}${LAW}${PUMP}
local LEASE_MS = tonumber(ARGV[4])

local function add_then(model, shape, lane, amount, age)
  local ring = ring_of(model, shape)
  local bucket = math.floor((model.time - age) / shape.width)
  if bucket < ring.at - shape.ages[#shape.ages] then return nil end
  ring.first = math.min(ring.first, bucket)
  add(model, shape, ring, lane, amount, bucket)
  return bucket
end

-- Returns what is to be kept of it so that it can be corrected later.
local function book(model, class, calls, tokens, age)
  local booking = { model = model.name, class = class, booked = tokens }
  if not model.terms.limited then return booking end
  count_spent(model, calls, tokens)
  add_then(model, MINUTE, class, calls, age)
  booking.minute = add_then(model, MINUTE, CLASSES + class, tokens, age)
  if (model.terms.tpd or 0) > 0 then booking.day = add_then(model, DAY, class, tokens, age) end
  if model.terms.growth then add_then(model, growth_shape(model.terms.growth), class, calls, age) end
  model.dirty = true
  return booking
end

forget_expired()
for at = 5, #ARGV, 7 do
  local id, name, class = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 3])
  local calls, tokens, age = tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6])
  tell(name, ARGV[at + 2])
  local model = model_of(name)
  if id == '' then
    book(model, class, calls, tokens, age)
  elseif not ticket_of(id) then
    save_ticket(id, book(model, class, calls, tokens, age))
    model.state.inflight[class] = model.state.inflight[class] + 1
    model.dirty = true
    redis.call('ZADD', LEASES, score(now + LEASE_MS), id)
  end
end
return answer()
`;
