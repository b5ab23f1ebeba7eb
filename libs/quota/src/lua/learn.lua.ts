/**
 * Shared by all scripts that decide, as a part of LAW. Does: keeps what answers have taught about a model, by the rules
 * of learned.ts, observed-window.ts and climber.ts. Needs STATE.
 */
export const LEARN = `
local SHORT, LONG, LIFT_MS, LONGEST_REST_MS, RETURNING_SHARE = 0.5, 6, 600000, 3600000, 0.7
local WINDOW_MS, LONGEST_WINDOW_MS = 60000, 86400000

-- How many calls there were of late, over the last one to two spans.
local function recent() return { count = 0, before = 0, before_ms = 0 } end

local function add_recent(seen, time, span_s)
  local gone = seen.since and time - seen.since or math.huge
  if gone >= span_s * 1000 then
    if gone >= 2 * span_s * 1000 then seen.before, seen.before_ms = 0, 0
    else seen.before, seen.before_ms = seen.count, gone end
    seen.count, seen.since = 0, time
  end
  seen.count = seen.count + 1
end

local function withdraw_recent(seen) seen.count = math.max(0, seen.count - 1) end

local function recent_rate(seen, time)
  return (seen.count + seen.before) * 1000 / math.max(1000, time - (seen.since or time) + seen.before_ms)
end

local function taken_rate(learned, time)
  return math.max(recent_rate(learned.taken, time), recent_rate(learned.taken_long, time))
end

local function withdraw_taken(learned)
  withdraw_recent(learned.taken)
  withdraw_recent(learned.taken_long)
end

-- What was learned of a model; nil: nothing is.
local function learned_of(model)
  if not model.terms.climb then return nil end
  if not model.state.learned then
    model.state.learned = {
      calls = 0, fell = 0, level = 0, filled = 0, accepted = 0, errors = 0, overloads = 0, hold = 0, clean = 0, rest = 0,
      sent = recent(), taken = recent(), taken_long = recent(),
      requests = { sent = 0, call = 0, till = 0, cap = 0 }, tokens = { sent = 0, call = 0, till = 0, cap = 0 },
    }
  end
  return model.state.learned
end

-- The limit that counts now, and until when if it is one that was told.
local function told_limit(window, configured, time)
  if not window or window.cap == 0 or time >= window.till then return configured end
  return math.min(window.cap, configured), window.till
end

local function window_end(window, amount, time)
  return time < window.till and window.left and window.left < amount and window.till
end

local function send(window, amount)
  window.sent = window.sent + amount
  if window.left then window.left = window.left - amount end
end

local function correct(window, call, surplus)
  if window.left and call > window.call then window.left = window.left - surplus end
end

local function clamp_rate(climb, rate)
  return math.max(1, climb.max_rps > 0 and math.min(rate, climb.max_rps) or rate)
end

local function ceiling(climb, learned)
  if climb.mode == 'off' then return nil end
  if learned.rate then return clamp_rate(climb, learned.rate) end
  return climb.mode == 'on' and clamp_rate(climb, climb.initial_rps) or nil
end

local function burst(climb, rate)
  return math.max(1, climb.burst_s * (climb.mode == 'auto' and math.max(rate, climb.initial_rps) or rate))
end

local function level_at(climb, learned, time, rate)
  return math.min(burst(climb, rate), learned.level + rate * (time - learned.filled) / 1000)
end

local function begin_rate(climb, learned, rate, level, why, time)
  learned.rate, learned.why = rate, why
  learned.level, learned.filled = math.min(level, burst(climb, rate)), time
end

local function next_rate(climb, rate, accepted, errors, seconds, held)
  local ratio = errors == 0 and 0 or errors / accepted
  local factor, why = 1, 'kept'
  if errors > 0 and ratio >= climb.strict_error_ratio then factor, why = 1 - climb.probe_ratio, 'fell'
  elseif errors > 0 and ratio >= climb.relax_error_ratio then why = 'kept'
  elseif errors == 0 and accepted * 1.5 < rate * seconds then why = 'idle'
  elseif held then why = 'held'
  elseif errors > 0 then factor, why = 1 + climb.probe_ratio, 'climbed'
  else factor, why = 1 + climb.fast_probe_ratio, 'climbed-fast' end
  return clamp_rate(climb, rate * factor), why
end

local function adjust(climb, learned, time, seconds)
  local rate = ceiling(climb, learned)
  local next, why = next_rate(climb, rate, learned.accepted, learned.errors, seconds, time < learned.hold)
  if why == 'fell' then
    learned.fell = learned.calls
    if learned.overloads > 0 then next = clamp_rate(climb, math.min(next, taken_rate(learned, time))) end
  end
  if climb.mode == 'auto' and why == 'idle' and time - learned.clean >= LIFT_MS then
    learned.rate, learned.why = nil, 'lifted'
  else
    begin_rate(climb, learned, next, level_at(climb, learned, time, rate), why, time)
  end
end

-- What was learned before the model was down no longer counts: it begins below its old rate, and climbs from there.
local function come_back(climb, learned, time)
  learned.returned, learned.fell = climb.returned_at, learned.calls
  learned.from, learned.accepted, learned.errors, learned.overloads = time, 0, 0, 0
  if not learned.rate then return end
  local level = level_at(climb, learned, time, learned.rate)
  begin_rate(climb, learned, clamp_rate(climb, learned.rate * RETURNING_SHARE), level, 'returned', time)
end

-- Ends the interval if it is over.
local function step(climb, learned, time)
  if climb.mode == 'off' then return end
  if not learned.from then learned.from, learned.clean = time, time end
  if not learned.rate and climb.mode == 'on' then
    local rate = clamp_rate(climb, climb.initial_rps)
    begin_rate(climb, learned, rate, rate, 'initial', time)
  end
  if climb.returned_at and climb.returned_at > (learned.returned or 0) then come_back(climb, learned, time) end
  local elapsed = time - learned.from
  if elapsed < climb.interval_s * 1000 then return end
  if learned.rate then adjust(climb, learned, time, elapsed / 1000) end
  learned.from, learned.accepted, learned.errors, learned.overloads = time, 0, 0, 0
end

-- A call goes out; returns what its answer is understood by. sums: of the minute, nil: they are not kept.
local function learn_sent(model, tokens, sums)
  local climb, learned = model.terms.climb, learned_of(model)
  if not climb then return nil end
  learned.calls = learned.calls + 1
  if climb.mode ~= 'off' then
    step(climb, learned, model.time)
    local rate = ceiling(climb, learned)
    if rate then learned.level, learned.filled = level_at(climb, learned, model.time, rate) - 1, model.time end
    learned.accepted = learned.accepted + 1
    add_recent(learned.sent, model.time, SHORT * climb.interval_s)
    add_recent(learned.taken, model.time, SHORT * climb.interval_s)
    add_recent(learned.taken_long, model.time, LONG * climb.interval_s)
  end
  send(learned.requests, 1)
  send(learned.tokens, tokens)
  local function known(lane) return sums and sums[lane + 1] + sums[lane + 2] + sums[lane + 3] or 0 end
  return { learned.calls, learned.requests.sent, learned.tokens.sent, known(0), known(CLASSES) }
end

-- The call was never made.
local function unlearn_sent(learned, call)
  learned.accepted = math.max(0, learned.accepted - 1)
  withdraw_recent(learned.sent)
  withdraw_taken(learned)
  learned.level = learned.level + 1
  correct(learned.requests, call, -1)
end

-- The limit that refuses a call of so many tokens by what was learned, and until when; nil: none does.
local function learned_refusal(model, learned, tokens)
  local time, climb = model.time, model.terms.climb
  if time < learned.rest then return 'retry-after', learned.rest end
  local till = window_end(learned.requests, 1, time)
  if till then return 'observed-requests', till end
  till = window_end(learned.tokens, tokens, time)
  if till then return 'observed-tokens', till end
  local rate = ceiling(climb, learned)
  if not rate or not learned.rate then return nil end
  local level = level_at(climb, learned, time, rate)
  if level >= 1 - 1e-9 then return nil end
  return 'climb', time + math.ceil((1 - level) / rate * 1000)
end

-- For how many ms the provider wants to be left alone.
local function rest_of(model)
  local learned = learned_of(model)
  return learned and math.max(0, learned.rest - model.time) or 0
end
`;

/** For the script that takes in answers. Does: learns from what the answer of a call has told. Needs LAW. */
export const LESSON = `
-- Whether our own window knew of all that the provider had counted.
local function is_known(told, witness, configured)
  if configured == 0 or not told.limit or told.limit < configured then return false end
  return told.limit - told.remaining <= witness.known + 2 * witness.amount + 0.02 * told.limit
end

local function observe(window, told, witness, configured, time)
  if told.resetMs and (told.resetMs <= 0 or told.resetMs > LONGEST_WINDOW_MS) then return end
  if time < window.till and witness.call < window.call then return end
  local cap = told.limit and told.limit > 0 and told.limit < configured and told.limit or 0
  if cap == 0 and not told.resetMs then return end
  local tells = told.remaining and told.resetMs and not is_known(told, witness, configured)
  window.call, window.cap = witness.call, cap
  window.till = time + math.ceil(told.resetMs or WINDOW_MS)
  window.left = nil
  if tells then window.left = told.remaining - (window.sent - witness.sent) end
end

local function fail(climb, learned, time, call, overload)
  if climb.mode == 'off' then return end
  if call > learned.fell then learned.errors = learned.errors + 1 end
  if not overload then return end
  learned.clean = time
  learned.overloads = learned.overloads + 1
  withdraw_taken(learned)
  if overload == 'slope' then learned.hold = math.max(learned.hold, time + climb.hold_ms) end
  if learned.rate then return end
  local first = math.max(taken_rate(learned, time), math.min(recent_rate(learned.sent, time), climb.initial_rps))
  begin_rate(climb, learned, clamp_rate(climb, first), 1, 'overload', time)
end

-- Takes in what the answer of a call has told; observed: nil if nothing.
local function learn(model, record, ended, observed)
  local climb, learned, time = model.terms.climb, learned_of(model), model.time
  if not climb or not record.sent then return end
  local call, sent_requests, sent_tokens, known_requests, known_tokens = unpack(record.sent)
  model.dirty = true
  step(climb, learned, time)
  if ended == 'dropped' then fail(climb, learned, time, call, observed and observed.overload) end
  if not observed then return end
  if observed.retryAfterMs then
    learned.rest = math.max(learned.rest, time + math.ceil(math.min(observed.retryAfterMs, LONGEST_REST_MS)))
  end
  local limits = observed.limits or {}
  if limits.requests then
    local witness = { call = call, amount = 1, sent = sent_requests, known = known_requests }
    observe(learned.requests, limits.requests, witness, model.terms.rpm, time)
  end
  if limits.tokens then
    local witness = { call = call, amount = record.booked, sent = sent_tokens, known = known_tokens }
    observe(learned.tokens, limits.tokens, witness, model.terms.tpm, time)
  end
end
`;

/** For the script that explains. Does: tells what was learned of a model. Needs LAW. */
export const LEARNED_REPORT = `
local function learned_report(model)
  local climb, learned, time = model.terms.climb, learned_of(model), model.time
  local function use(window)
    if time >= window.till or (not window.left and window.cap == 0) then return nil end
    return {
      left = window.left and math.max(0, window.left),
      limit = window.cap > 0 and window.cap or nil,
      resetMs = window.till - time,
    }
  end
  return {
    mode = climb.mode,
    rate = ceiling(climb, learned),
    why = learned.why,
    restMs = rest_of(model),
    requests = use(learned.requests),
    tokens = use(learned.tokens),
  }
end
`;
