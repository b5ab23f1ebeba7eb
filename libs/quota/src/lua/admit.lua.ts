import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: books a call on each of several budgets if all of them admit it, else on none.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 ticket · 5 tokens · then for each budget its name and its
 *   terms (JSON). The ticket on a budget is this one, `-` and the position of the budget, from 0.
 * Returns: wake, grants, budget, limit and ms until it may admit (-1: when a call ends) of the refusal that lasts
 *   longest, empty if there is none; and a list of budget, limit, what it admits, what is used, ms until nothing is.
 */
export const ADMIT = `${STATE}${RING}${WAITS}${LAW}${PUMP}
local ticket, tokens = ARGV[4], tonumber(ARGV[5])
local binds, uses = {}, {}

-- Budgets know no classes.
local CLASS = 1

local function judge(name)
  local ok, limit, when = admits(model_of(name), CLASS, tokens)
  if ok then return end
  local at = when and when()
  local in_ms = at and math.max(0, math.ceil(at - now)) or -1
  if not binds[3] or in_ms > binds[3] then binds = { name, limit, in_ms } end
end

local function report(name, limit, lane)
  local model = model_of(name)
  local admitted = model.terms[limit]
  if admitted == 0 then return end
  local ring = ring_of(model, MINUTE)
  local sums = ring.sums[1]
  local empty = math.max(0, math.ceil(when_empty(model, MINUTE, ring, 1) - now))
  table.insert(uses, { name, limit, admitted, sums[lane + 1] + sums[lane + 2] + sums[lane + 3], empty })
end

forget_expired()
for at = 6, #ARGV, 2 do
  tell(ARGV[at], ARGV[at + 1])
  judge(ARGV[at])
end
for at = 6, #ARGV, 2 do
  if not binds[1] then grant(string.format('%s-%d', ticket, (at - 6) / 2), ARGV[at], CLASS, tokens) end
  report(ARGV[at], 'rpm', 0)
  report(ARGV[at], 'tpm', CLASSES)
end
return answer(binds, uses)
`;
