import { startRedis } from './redis-server';

/** One Redis for all suites that only need some Redis; each takes a key prefix or database of its own. */
export default async function globalSetup(): Promise<void> {
  const server = await startRedis();
  process.env['SPILLWAY_TEST_REDIS_URL'] = server.url;
  (globalThis as { spillwayRedis?: unknown }).spillwayRedis = server;
}
