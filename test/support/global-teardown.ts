import type { RedisServer } from './redis-server';

export default async function globalTeardown(): Promise<void> {
  await (globalThis as { spillwayRedis?: RedisServer }).spillwayRedis?.stop();
}
