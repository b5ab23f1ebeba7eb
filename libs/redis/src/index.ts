export type { Redis } from 'ioredis';
export { RedisModule } from './redis.module';
export { RedisConnections, type RedisRole } from './redis-connections';
export { RedisGuard, type RedisState } from './redis-guard';
export { RedisChannels, type ChannelListener } from './redis-channels';
export { defineScript, type RedisScript } from './redis-script';
export { RedisUnavailable } from './redis-unavailable';
export type { RedisSettings } from './redis-settings';
