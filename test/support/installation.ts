import { startSimulator, type Simulator, type SimulatorOptions } from '../../apps/simulator/src/simulator';
import { startRedis, type RedisOptions, type RedisServer } from './redis-server';
import { startSpillway, type SpillwayProcess } from './spillway';

type Role = 'all' | 'gateway' | 'worker';

/** Processes of Spillway on one Redis of their own, and the provider that they call. */
export interface Installation {
  readonly redis: RedisServer;
  readonly simulator: Simulator;
  /** One more process; the configuration may name the provider `simulator`. */
  start(role: Role, configuration: object, env?: Readonly<Record<string, string>>): Promise<SpillwayProcess>;
  /** Ends all processes and forgets what they had in Redis and asked of the simulator. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the parts of an installation; models of the simulator answer at once unless a test says otherwise. */
export async function startInstallation(
  options: RedisOptions = {},
  simulated: SimulatorOptions = {},
): Promise<Installation> {
  const redis = await startRedis(options);
  const simulator = await startSimulator({
    ...simulated,
    defaultModel: { latency: { first_token_ms: 0, tokens_per_s: 0 } },
  });
  const processes: SpillwayProcess[] = [];
  let generation = 0;
  const clear = async (): Promise<void> => {
    for (const process of processes) process.kill('SIGKILL');
    await Promise.all(processes.map(process => process.ended()));
    processes.length = 0;
    generation += 1;
    simulator.reset();
  };
  return {
    redis,
    simulator,
    start: async (role, configuration, env = {}) => {
      const process = await startSpillway({
        configuration: {
          providers: { simulator: { base_url: simulator.url } },
          ...configuration,
          redis: { prefix: `e2e-${generation}`, ...(configuration as { redis?: object }).redis },
        },
        env: { REDIS_URL: redis.url, SPILLWAY_ROLE: role, ...env },
      });
      processes.push(process);
      return process;
    },
    clear,
    stop: async () => {
      await clear();
      await simulator.close();
      await redis.stop();
    },
  };
}
