import { OTHER, PRIORITIES, type Priority, type ProviderSettings, type RouteCacheSettings } from '@spillway/contracts';
import type { Environment } from './environment';
import { model as modelSchema } from './model-schema';
import { routeCache } from './route-schema';
import type { Configuration } from './schema';
import type { ConfiguredModel, ConfiguredRoute, EmbeddingSettings, Settings } from './settings';
import { type SingleModels, targetOf } from './target';

type ModelEntry = Configuration['models'][string];
type RouteEntry = Configuration['routes'][string];

const DEFAULT_HEADROOM = 0.2;
/** Of some 120 MB, for a hundred languages. */
const DEFAULT_ONNX_MODEL = 'Xenova/multilingual-e5-small';

/** Settings from a valid configuration: references become objects, and the environment wins. */
export function resolve(configuration: Configuration, environment: Environment, file: string | null): Settings {
  const { server, redis, qdrant, admin, log } = configuration;
  const providers = mapOf(configuration.providers, (name, entry): ProviderSettings => ({ name, ...entry }));
  const models = mapOf(configuration.models, (name, entry) => toModel(name, entry, need(providers, entry.provider)));
  const embedding = toEmbedding(configuration.embedding, providers);
  const cacheOf = (entry: RouteEntry['cache']): RouteCacheSettings => ({
    ...entry,
    ttl_s: entry.ttl_s ?? configuration.cache.ttl_s,
    threshold: entry.threshold ?? null,
    guard: entry.guard ?? null,
  });
  const routes = mapOf(configuration.routes, (name, entry) => toRoute(name, entry, models, cacheOf(entry.cache)));
  const passthrough = configuration.passthrough === undefined ? null : need(providers, configuration.passthrough);
  const single: SingleModels = {
    route: model => toSingleRoute(model, cacheOf(routeCache.parse({}))),
    passed: passthrough === null ? null : name => toPassedModel(name, passthrough),
  };
  return {
    ...configuration,
    file,
    server: { ...server, host: environment.host ?? server.host, port: environment.port ?? server.port },
    redis: { ...redis, url: environment.redisUrl ?? redis.url },
    qdrant: {
      ...qdrant,
      url: environment.qdrantUrl ?? qdrant.url,
      api_key: environment.qdrantApiKey ?? qdrant.api_key,
    },
    admin: { ...admin, key: environment.adminKey ?? admin.key },
    log: { ...log, level: environment.logLevel ?? log.level },
    providers,
    models,
    routes,
    passthrough,
    embedding,
    isConfigured: name => routes.has(name) || models.has(name),
    target: targetOf(routes, models, single),
  };
}

function toModel(name: string, entry: ModelEntry, provider: ProviderSettings): ConfiguredModel {
  const limited = Object.values(entry.limits).some(limit => limit > 0);
  return {
    ...entry,
    name,
    metric_label: name,
    provider,
    upstream_model: entry.upstream_model ?? name,
    headroom: entry.headroom ?? (limited ? DEFAULT_HEADROOM : 0),
  };
}

/** Its metrics share one label: names that callers make up must not become series. */
function toPassedModel(name: string, provider: ProviderSettings): ConfiguredModel {
  return { ...toModel(name, modelSchema.parse({ provider: provider.name }), provider), metric_label: OTHER };
}

function toRoute(
  name: string,
  entry: RouteEntry,
  models: ReadonlyMap<string, ConfiguredModel>,
  cache: RouteCacheSettings,
): ConfiguredRoute {
  const chainOf = (names: readonly string[]) => names.map(model => need(models, model));
  return {
    name,
    chain: chainOf(entry.chain),
    chain_by_priority: perClass(entry.chain_by_priority, chainOf),
    shed_to: perClass<string, ConfiguredModel>(entry.shed_to, model => need(models, model)),
    stale_if_error_s: entry.stale_if_error_s,
    hedge: entry.hedge,
    quality: entry.quality,
    fallback_response: entry.fallback_response,
    cache,
  };
}

function toSingleRoute(model: ConfiguredModel, cache: RouteCacheSettings): ConfiguredRoute {
  return {
    name: model.name,
    chain: [model],
    chain_by_priority: {},
    shed_to: {},
    stale_if_error_s: 0,
    fallback_response: { critical: null, normal: null, low: null },
    cache,
  };
}

function toEmbedding(
  { provider, model }: Configuration['embedding'],
  providers: ReadonlyMap<string, ProviderSettings>,
): EmbeddingSettings {
  if (provider === 'builtin') return { kind: 'builtin' };
  if (provider === 'onnx') return { kind: 'onnx', model: model ?? DEFAULT_ONNX_MODEL };
  return { kind: 'endpoint', provider: need(providers, provider), model: model ?? '' };
}

function perClass<From, To>(
  values: Readonly<Partial<Record<Priority, From | undefined>>>,
  convert: (value: From) => To,
): Partial<Record<Priority, To>> {
  return Object.fromEntries(
    PRIORITIES.flatMap(priority => {
      const value = values[priority];
      return value === undefined ? [] : [[priority, convert(value)]];
    }),
  );
}

function mapOf<From, To>(table: Readonly<Record<string, From>>, convert: (name: string, entry: From) => To) {
  return new Map(Object.entries(table).map(([name, entry]) => [name, convert(name, entry)]));
}

/** References were checked before; a missing one is a mistake of ours. */
function need<Value>(table: ReadonlyMap<string, Value>, name: string): Value {
  const value = table.get(name);
  if (value === undefined) throw new Error(`unchecked reference to ${name}`);
  return value;
}
