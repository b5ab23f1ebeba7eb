export type { Redis } from 'ioredis';
export { RedisModule } from './redis.module';
export { RedisConnections } from './redis-connections';
export { RedisGuard } from './redis-guard';
export { RedisChannels } from './redis-channels';
export { defineScript, type RedisScript } from './redis-script';
export { reasonOfLoss, RedisUnavailable } from './redis-unavailable';
