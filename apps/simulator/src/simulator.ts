import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { ModelStats } from './model-state';
import { Provider, type ProviderOptions } from './provider';
import type { LoggedRequest } from './request-log';
import type { Step } from './script';
import type { ModelPatch } from './settings';

export interface SimulatorOptions extends ProviderOptions {
  /** Default: any free one. */
  readonly port?: number | undefined;
  /** Default: the loopback address. */
  readonly host?: string | undefined;
}

/** A running simulator. */
export interface Simulator {
  /** The OpenAI base URL, which ends in `/v1`. */
  readonly url: string;
  readonly port: number;
  stats(): Record<string, ModelStats>;
  /** The latest requests, of one model or of all. */
  requests(model?: string): LoggedRequest[];
  /** Changes a model's settings at once. */
  configure(model: string, patch: ModelPatch): void;
  /** Answers the model's requests by these steps; `'*'`: requests of any model and path; no steps: as usual again. */
  script(model: string, steps: readonly Step[]): void;
  /** Back to how it started: settings, scripts, counts and log. */
  reset(): void;
  close(): Promise<void>;
}

const IDLE_CONNECTION_MS = 65_000;

/** Starts an OpenAI-compatible provider that is no model. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1';
  const provider = new Provider(options);
  const server = createServer({ keepAliveTimeout: IDLE_CONNECTION_MS, requestTimeout: 0 }, (request, response) => {
    provider.receive(request, response).catch(() => response.destroy());
  });
  const port = await listen(server, options.port ?? 0, host);
  const { registry, log } = provider;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/v1`,
    port,
    stats: () => registry.stats(),
    requests: model => log.of(model),
    configure: (model, patch) => void registry.configure(model, patch),
    script: (model, steps) => registry.script(model, steps),
    reset: () => {
      registry.reset();
      log.clear();
    },
    close: () => close(server),
  };
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The simulator has no port.');
  return address.port;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
