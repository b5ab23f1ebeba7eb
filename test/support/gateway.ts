import type { Patience } from '../../apps/gateway/src/http-server';
import { serveGateway } from '../../apps/gateway/src/serve';
import { CapturedLog } from './captured-log';
import { configStore } from './settings';

/** A Spillway in this very process: it starts in a fraction of a second, so each test may configure its own. */
export interface Gateway {
  readonly url: string;
  readonly log: CapturedLog;
  /** Ends it as SIGTERM does. */
  stop(): Promise<void>;
}

export interface GatewayOptions {
  /** As in `spillway.yaml`. */
  readonly configuration: object;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly patience?: Patience | undefined;
}

/** Starts a Spillway that serves and hands out turns, on a port of its own. */
export async function startGateway({ configuration, env = {}, patience }: GatewayOptions): Promise<Gateway> {
  const log = new CapturedLog();
  const config = configStore(configuration, { PORT: '0', HOST: '127.0.0.1', ...env });
  const running = await serveGateway({ config, logger: log }, { handsOutTurns: true, patience });
  if (running.url === null) throw new Error('a gateway listens');
  return { url: running.url, log, stop: () => running.stop() };
}
