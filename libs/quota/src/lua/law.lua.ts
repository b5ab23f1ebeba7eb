import { LEARN } from './learn.lua';

/**
 * Shared by all scripts that decide. Does: decides what a model admits, and books it. Needs STATE and RING. The same law
 * as law.ts, and held to it by the same cases.
 */
export const LAW = `${LEARN}
-- Rounded down, but never below 1 where the limit is at least 1. The tiny addend undoes binary fractions.
local function portion(share, limit)
  if share <= 0 then return 0 end
  return math.max(math.floor(share * limit + 1e-9), limit >= 1 and 1 or 0)
end

local function sum_of(used, lane) return used[lane + 1] + used[lane + 2] + used[lane + 3] end

-- Whether one more use keeps a limit (0: none) and the class's share of it, or else its guarantee; lane is that before
-- the most important class. What is larger than a share alone passes when nothing else is counted.
local function within(limit, used, lane, amount, class, terms, only)
  if not limit or limit == 0 then return true end
  local total = sum_of(used, lane)
  local whole = math.min(amount, limit)
  if total + whole > limit then return false end
  if only ~= 'guarantee' then
    local share = portion(terms.share[class], limit)
    if total + math.min(whole, share) <= share then return true end
  end
  return only ~= 'share' and used[lane + class] + whole <= portion(terms.min_share[class], limit)
end

-- Whether a ring lets a use pass, and if not the moment at which it may. capped: when the limit counts no longer.
local function passes(model, shape, limit, lane, amount, class, only, capped)
  if not limit or limit == 0 then return true end
  local ring = ring_of(model, shape)
  local function fits(used) return within(limit, used, lane, amount, class, model.terms, only) end
  if fits(ring.sums[1]) then return true end
  return false, function()
    local at = when_fits(model, shape, ring, fits)
    return capped and math.min(at or math.huge, capped - model.state.ahead) or at
  end
end

-- The tiny addend undoes binary fractions.
local function grown(before, ratio) return (1 + ratio) * before + 1e-9 end

-- The calls that the current period may hold.
local function allowance(growth, before)
  return math.max(grown(growth.floor_rps * growth.per_s, 0), grown(before, growth.max_ratio))
end

-- Beyond its share a class may have what it had in the period before, and its share of growth of that.
local function may_grow(model, class, only)
  local growth = model.terms.growth
  if not growth then return true end
  local shape = growth_shape(growth)
  local ring = ring_of(model, shape)
  local both = ring.sums[2]
  local share, min_share = model.terms.share[class], model.terms.min_share[class]
  local function fits(current)
    local total, own = sum_of(current, 0), current[class]
    local allowed = allowance(growth, sum_of(both, 0) - total)
    if total + 1 > allowed then return false end
    local again = grown(both[class] - own, share * growth.max_ratio)
    if only ~= 'guarantee' and (total + 1 <= portion(share, allowed) or own + 1 <= again) then return true end
    return only ~= 'share' and own + 1 <= portion(min_share, allowed)
  end
  if fits(ring.sums[1]) then return true end
  return false, function() return when_fits(model, shape, ring, fits) end
end

-- Whether a model admits one more call now; if not, the name of the limit and what finds the moment to ask again.
-- only: by the share or the guarantee of the class alone; nil: by either.
local function admits(model, class, tokens, only)
  local terms = model.terms
  if not within(terms.inflight, model.state.inflight, 0, 1, class, terms, only) then return false, 'inflight' end
  local learned = learned_of(model)
  local rpm, rpm_end = told_limit(learned and learned.requests, terms.rpm, model.time)
  local tpm, tpm_end = told_limit(learned and learned.tokens, terms.tpm, model.time)
  local ok, when = passes(model, MINUTE, rpm, 0, 1, class, only, rpm_end)
  if not ok then return false, 'rpm', when end
  ok, when = passes(model, MINUTE, tpm, CLASSES, tokens, class, only, tpm_end)
  if not ok then return false, 'tpm', when end
  ok, when = passes(model, DAY, terms.tpd, 0, tokens, class, only)
  if not ok then return false, 'tpd', when end
  ok, when = may_grow(model, class, only)
  if not ok then return false, 'growth', when end
  if not learned then return true end
  local refused, at = learned_refusal(model, learned, tokens)
  if refused then return false, refused, function() return at - model.state.ahead end end
  return true
end

-- Counts what was ever booked, so that others can follow the use of a model without its windows.
local function count_spent(model, calls, tokens)
  local spent = model.state.spent or { 0, 0 }
  model.state.spent = { spent[1] + calls, spent[2] + tokens }
end

-- What a call is booked with: no more than the limits hold, or a call larger than a limit could never be made.
local function bookable(terms, tokens)
  if (terms.tpm or 0) > 0 then tokens = math.min(tokens, terms.tpm) end
  if (terms.tpd or 0) > 0 then tokens = math.min(tokens, terms.tpd) end
  return tokens
end

-- Books one call, and returns what is to be kept of it so that it can be corrected later.
local function take(model, class, tokens)
  local terms, inflight = model.terms, model.state.inflight
  tokens = bookable(terms, tokens)
  inflight[class] = inflight[class] + 1
  model.dirty = true
  local booking = { model = model.name, class = class, booked = tokens }
  if not terms.limited then
    booking.sent = learn_sent(model, tokens)
    return booking
  end
  count_spent(model, 1, tokens)
  local minute = ring_of(model, MINUTE)
  add(model, MINUTE, minute, class, 1)
  add(model, MINUTE, minute, CLASSES + class, tokens)
  booking.minute = minute.at
  if (terms.tpd or 0) > 0 then
    local day = ring_of(model, DAY)
    add(model, DAY, day, class, tokens)
    booking.day = day.at
  end
  if terms.growth then
    local shape = growth_shape(terms.growth)
    local ring = ring_of(model, shape)
    add(model, shape, ring, class, 1)
    booking.growth, booking.growth_width = ring.at, shape.width
  end
  booking.sent = learn_sent(model, tokens, minute.sums[1])
  return booking
end

-- Books a call under way anew, now, with so many tokens; its record is the caller's to save.
local function rebook(model, record, tokens)
  tokens = bookable(model.terms, tokens)
  local surplus = tokens - record.booked
  model.dirty = true
  if record.sent and model.terms.climb then correct(learned_of(model).tokens, record.sent[1], surplus) end
  if record.minute then
    count_spent(model, 0, surplus)
    local minute = ring_of(model, MINUTE)
    add(model, MINUTE, minute, CLASSES + record.class, -record.booked, record.minute)
    add(model, MINUTE, minute, CLASSES + record.class, tokens)
    record.minute = minute.at
    if record.day and model.state.day then
      local day = ring_of(model, DAY)
      add(model, DAY, day, record.class, -record.booked, record.day)
      add(model, DAY, day, record.class, tokens)
      record.day = day.at
    end
  end
  record.booked = tokens
end

-- Ends a call and corrects its tokens to what it used (nil: not known): what was booked too much is taken from where it
-- was booked, what was too little is booked now.
local function settle(model, record, used)
  local class = record.class
  model.state.inflight[class] = math.max(0, model.state.inflight[class] - 1)
  model.dirty = true
  local surplus = used and used - record.booked or 0
  if record.sent and model.terms.climb then correct(learned_of(model).tokens, record.sent[1], surplus) end
  if surplus == 0 or not record.minute then return end
  count_spent(model, 0, surplus)
  add(model, MINUTE, ring_of(model, MINUTE), CLASSES + class, surplus, surplus < 0 and record.minute or nil)
  if record.day and model.state.day then
    add(model, DAY, ring_of(model, DAY), class, surplus, surplus < 0 and record.day or nil)
  end
end

-- Ends a call that was never made.
local function cancel(model, record)
  settle(model, record, 0)
  if record.sent and model.terms.climb then unlearn_sent(learned_of(model), record.sent[1]) end
  if not record.minute then return end
  add(model, MINUTE, ring_of(model, MINUTE), record.class, -1, record.minute)
  local growth = model.terms.growth
  local shape = growth and growth_shape(growth)
  if shape and shape.width == record.growth_width then
    add(model, shape, ring_of(model, shape), record.class, -1, record.growth)
  end
end
`;
