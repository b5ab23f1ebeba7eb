import { randomUUID } from 'node:crypto';
import { startGateway, type Gateway } from './gateway';
import { startUpstream, type Upstream } from './scripted-upstream';

const REDIS_URL = process.env['SPILLWAY_TEST_REDIS_URL'] ?? '';

/** Spillways in this very process, and the two scripted providers that they call. */
export interface Gateways {
  readonly first: Upstream;
  readonly second: Upstream;
  /** One more, alone; the configuration may name the providers `one` (the first) and `two`. */
  start(configuration: object): Promise<Gateway>;
  /** One more that shares what it knows with the others of its test, through Redis. */
  startShared(configuration: object): Promise<Gateway>;
  /** Ends all; those that start later share nothing with them. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export async function startGateways(): Promise<Gateways> {
  const [first, second] = await Promise.all([startUpstream([]), startUpstream([])]);
  const running = new Set<() => Promise<void>>();
  let prefix = randomUUID();
  const begin = async (configuration: object, env: Readonly<Record<string, string>>): Promise<Gateway> => {
    const providers = { one: { base_url: `${first.url}/v1` }, two: { base_url: `${second.url}/v1` } };
    const shared = { redis: { prefix }, providers };
    const gateway = await startGateway({ configuration: { ...shared, ...configuration }, env });
    const stop = async (): Promise<void> => {
      if (running.delete(stop)) await gateway.stop();
    };
    running.add(stop);
    return { ...gateway, reconfigure: next => gateway.reconfigure({ ...shared, ...next }), stop };
  };
  const clear = async (): Promise<void> => {
    prefix = randomUUID();
    await Promise.all([...running].map(stop => stop()));
  };
  return {
    first,
    second,
    start: configuration => begin(configuration, {}),
    startShared: configuration => begin(configuration, { REDIS_URL }),
    clear,
    stop: async () => {
      await clear();
      await Promise.all([first.close(), second.close()]);
    },
  };
}
