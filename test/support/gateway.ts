import { writeFileSync } from 'node:fs';
import { ConfigStore, readEnvironment } from '@spillway/config';
import { stringify } from 'yaml';
import type { Patience } from '../../apps/gateway/src/http-server';
import { serveGateway } from '../../apps/gateway/src/serve';
import { CapturedLog } from './captured-log';
import { patientWith } from './open-redis';
import { configurationFile } from './settings';

/** A Spillway in this very process: it starts in a fraction of a second, so each test may configure its own. */
export interface Gateway {
  readonly url: string;
  readonly log: CapturedLog;
  /** Another configuration from now on, as by SIGHUP. */
  reconfigure(configuration: object): void;
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
  const file = configurationFile(patientWith(configuration, env));
  const config = new ConfigStore(readEnvironment({ PORT: '0', HOST: '127.0.0.1', ...env, SPILLWAY_CONFIG: file }));
  const running = await serveGateway({ config, logger: log }, { works: true, patience });
  if (running.url === null) throw new Error('a gateway listens');
  const reconfigure = (next: object): void => {
    writeFileSync(file, stringify(patientWith(next, env)));
    config.reload();
  };
  return { url: running.url, log, reconfigure, stop: () => running.stop() };
}
