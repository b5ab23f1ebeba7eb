import { defineScript } from '@spillway/redis';

/**
 * Does: tells all that is kept.
 * KEYS: 1 hash model → version, a space, record (JSON).
 * Returns: the time in ms, pairs of model and what is kept of it.
 */
const LUA = `
local time = redis.call('TIME')
return { time[1] * 1000 + math.floor(time[2] / 1000), redis.call('HGETALL', KEYS[1]) }
`;

export const READ_RECORDS = defineScript('read-records', LUA, 1);
