import { isJsonObject } from '@spillway/contracts';
import { ApiClient } from './api-client';
import { startGateway, type Gateway, type GatewayOptions } from './gateway';
import { operate } from './health';
import { startUpstream, type Upstream } from './scripted-upstream';

/** Two scripted providers and a Spillway in front of them. */
export interface World {
  readonly primary: Upstream;
  readonly fallback: Upstream;
  readonly gateway: Gateway;
  /** With the key of `a`. */
  readonly client: ApiClient;
  /** Forgets what the models have failed at: for tests that share a world and are not about health. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

type Sections = Readonly<Record<string, unknown>>;

export interface WorldOptions {
  /** Sections of the configuration beside, or merged over, those of every world. */
  readonly configuration?: Sections;
  /** Settings of both models. */
  readonly model?: object;
  /** Settings of both routes. */
  readonly route?: object;
  /** Whether equal calls are answered from the cache; most cases are about calls that reach a model. */
  readonly cache?: boolean;
  readonly env?: GatewayOptions['env'];
  readonly patience?: GatewayOptions['patience'];
}

/** Only what opens a breaker at once does: most cases are about single calls. */
const PATIENT = { min_requests: 1_000_000, consecutive_failures: 1_000_000 };

/** What a configuration says, with two providers at these addresses. */
export function worldConfiguration(
  urls: { readonly primary: string; readonly fallback: string },
  { configuration = {}, model = {}, route = {}, cache = false }: WorldOptions = {},
): Sections {
  const routes = { cache: { exact: cache, semantic: false }, ...route };
  const base: Sections = {
    server: { drain_ms: 1_000 },
    providers: {
      primary: { base_url: `${urls.primary}/v1`, api_key: 'UPSTREAM_KEY_1' },
      fallback: { base_url: `${urls.fallback}/v1`, api_key: 'FALLBACK_KEY' },
    },
    models: {
      primary: {
        provider: 'primary',
        upstream_model: 'real-primary',
        context_window: 8_192,
        breaker: PATIENT,
        ...model,
      },
      fallback: {
        provider: 'fallback',
        upstream_model: 'real-fallback',
        context_window: 128_000,
        breaker: PATIENT,
        ...model,
      },
    },
    routes: {
      'm-primary': { chain: ['primary', 'fallback'], ...routes },
      alone: { chain: ['primary'], ...routes },
    },
    keys: [
      { name: 'a', key: 'KEY_A' },
      { name: 'b', key: 'KEY_B' },
    ],
  };
  const merged = Object.entries(configuration).map(([name, section]) => {
    const usual = base[name];
    return [name, isJsonObject(usual) && isJsonObject(section) ? { ...usual, ...section } : section];
  });
  return { ...base, ...(Object.fromEntries(merged) as Sections) };
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const primary = await startUpstream([]);
  const fallback = await startUpstream([]);
  const configuration = worldConfiguration({ primary: primary.url, fallback: fallback.url }, options);
  const gateway = await startGateway({ configuration, env: options.env, patience: options.patience });
  return {
    primary,
    fallback,
    gateway,
    client: new ApiClient(gateway.url, 'KEY_A'),
    heal: async () => {
      await Promise.all(['primary', 'fallback'].map(model => operate(gateway, model, 'reset')));
    },
    stop: async () => {
      await gateway.stop();
      await Promise.all([primary.close(), fallback.close()]);
    },
  };
}

/** A chat request. */
export function ask(content: unknown, more: object = {}): object {
  return { model: 'm-primary', messages: [{ role: 'user', content }], ...more };
}
