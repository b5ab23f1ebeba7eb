import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: shows that the calling process lives, and grants what has become free by itself (leases and waits that
 * expired, windows that moved on).
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · then for each model its name and its terms (JSON).
 * Returns: wake, grants.
 */
export const BEAT = `${STATE}${RING}${WAITS}${LAW}${PUMP}
show_life(me)
redis.call('ZREMRANGEBYSCORE', WORKERS, '-inf', score(now - 60 * SILENT_MS))
forget_expired()
for at = 4, #ARGV, 2 do
  tell(ARGV[at], ARGV[at + 1])
  pump_later(ARGV[at])
end
pump()
return answer()
`;
