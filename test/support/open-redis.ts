import { RedisConnections, RedisGuard } from '@spillway/redis';

/** A configuration that waits for the Redis of an environment as `redisTimeoutMs` says, unless it says itself. */
export function patientWith(configuration: object, { REDIS_URL: url }: Readonly<Record<string, string>>): object {
  const { redis = {} } = configuration as { redis?: object };
  return url === undefined ? configuration : { ...configuration, redis: { timeout_ms: redisTimeoutMs(url), ...redis } };
}

export interface OpenRedis {
  readonly connections: RedisConnections;
  readonly guard: RedisGuard;
  close(): Promise<void>;
}

const SHARED = process.env['SPILLWAY_TEST_REDIS_URL'] ?? '';

/**
 * For tests that lose their Redis: waited for as long as in production. All others wait longer (`redisTimeoutMs`), so
 * that none fails where a busy machine takes a moment.
 */
export const LOSES_REDIS = { timeout_ms: 100 };

/** How long tests that do not lose their Redis wait for it, in milliseconds; nobody even restarts the shared one. */
export function redisTimeoutMs(url: string): number {
  return url === SHARED ? 5000 : 1000;
}

/** The Redis of the tests as one process of ours sees it, its keys under `prefix`. */
export async function openRedis(prefix: string, url = SHARED): Promise<OpenRedis> {
  const connections = new RedisConnections({ url, prefix, timeoutMs: redisTimeoutMs(url) });
  const guard = new RedisGuard(connections);
  await connections.onModuleInit();
  await guard.onModuleInit();
  return {
    connections,
    guard,
    close: async () => {
      guard.onApplicationShutdown();
      await connections.onApplicationShutdown();
    },
  };
}
