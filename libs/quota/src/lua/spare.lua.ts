import { LAW } from './law.lua';
import { PUMP } from './pump.lua';
import { RING } from './ring.lua';
import { STATE } from './state.lua';
import { WAITS } from './waits.lua';

/**
 * Does: grants a permit at once if nobody waits for the model and even the lowest class may have more by its share.
 * KEYS: see STATE.
 * ARGV: 1 process · 2 start of the channels · 3 claim ms · 4 ticket · 5 class · 6 tokens · 7 model · 8 its terms (JSON).
 * Returns: wake, grants, and 1 where it was granted, else 0.
 */
export const SPARE = `${STATE}${RING}${WAITS}${LAW}${PUMP}
local id, class, tokens, name = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
tell(name, ARGV[8])
forget_expired()
pump()
if top_of(name) or not admits(model_of(name), CLASSES, tokens, 'share') then return answer(0) end
grant(id, name, class, tokens)
return answer(1)
`;
