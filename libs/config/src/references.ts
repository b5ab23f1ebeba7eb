import { z } from 'zod';
import { type Path, pathOf, type Problem } from './configuration-error';

/** Embedders that need no provider. */
const OWN_EMBEDDERS: readonly string[] = ['builtin', 'onnx'];

const NAMES_SHOWN = 10;

const text = z.string().catch('');
const texts = z.array(text).catch([]);
const tableOf = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value).catch({});

/**
 * The names in a configuration and what they refer to, as far as they can be read: malformed parts are empty here and
 * reported by the schema, so that all problems are found in one go.
 */
const named = z
  .object({
    providers: tableOf(z.unknown()),
    models: tableOf(z.object({ provider: text }).catch({ provider: '' })),
    routes: tableOf(
      z
        .object({ chain: texts, chain_by_priority: tableOf(texts), shed_to: tableOf(text) })
        .catch({ chain: [], chain_by_priority: {}, shed_to: {} }),
    ),
    passthrough: text,
    keys: z
      .array(z.object({ name: text, key: text, routes: texts }).catch({ name: '', key: '', routes: [] }))
      .catch([]),
    embedding: z.object({ provider: text, model: text }).catch({ provider: '', model: '' }),
    health: z.object({ canary: z.object({ models: texts }).catch({ models: [] }) }).catch({ canary: { models: [] } }),
    cache: z.object({ judge: z.object({ model: text }).catch({ model: '' }) }).catch({ judge: { model: '' } }),
  })
  .catch({
    providers: {},
    models: {},
    routes: {},
    passthrough: '',
    keys: [],
    embedding: { provider: '', model: '' },
    health: { canary: { models: [] } },
    cache: { judge: { model: '' } },
  });

type Named = z.output<typeof named>;

/** Problems between the parts of a configuration: names that lead nowhere, clash or repeat. */
export function checkReferences(value: unknown): Problem[] {
  const names = named.parse(value);
  return [
    ...checkProviders(names),
    ...checkModels(names),
    ...Object.keys(names.routes).flatMap(route => checkRoute(names, route)),
    ...checkKeys(names),
    ...checkEmbedding(names),
    ...checkJudge(names),
    ...names.health.canary.models.flatMap((model, index) =>
      checkLink(names, model, ['health', 'canary', 'models', index]),
    ),
  ];
}

function checkProviders({ providers, models, routes, passthrough }: Named): Problem[] {
  const reserved = OWN_EMBEDDERS.filter(name => Object.hasOwn(providers, name));
  const nothing = [models, routes].every(table => Object.keys(table).length === 0) && passthrough === '';
  return [
    ...reserved.map(name => problem(['providers', name], 'this name is taken by an embedding')),
    ...unknown(providers, passthrough, ['passthrough'], 'provider'),
    ...(nothing ? [problem(['models'], 'nothing can be called: configure a model, or passthrough')] : []),
  ];
}

function checkModels({ providers, models }: Named): Problem[] {
  return Object.entries(models).flatMap(([name, model]) =>
    unknown(providers, model.provider, ['models', name, 'provider'], 'provider'),
  );
}

function checkRoute(names: Named, name: string): Problem[] {
  const route = names.routes[name];
  if (route === undefined) return [];
  const at = ['routes', name];
  const clash = Object.hasOwn(names.models, name);
  return [
    ...(clash ? [problem(at, 'a model has this name, and "model" in a request names either')] : []),
    ...route.chain.flatMap((model, index) => checkLink(names, model, [...at, 'chain', index])),
    ...Object.entries(route.chain_by_priority).flatMap(([priority, chain]) =>
      chain.flatMap((model, index) => checkLink(names, model, [...at, 'chain_by_priority', priority, index])),
    ),
    ...Object.entries(route.shed_to).flatMap(([priority, model]) =>
      checkLink(names, model, [...at, 'shed_to', priority]),
    ),
  ];
}

/** Only models may be links of a chain, which rules cycles out. */
function checkLink({ models, routes }: Named, model: string, path: Path): Problem[] {
  if (!Object.hasOwn(models, model) && Object.hasOwn(routes, model)) {
    return [problem(path, 'this is a route; only models can be named here, as routes could form a cycle')];
  }
  return unknown(models, model, path, 'model');
}

function checkKeys({ keys, models, routes, passthrough }: Named): Problem[] {
  const callable = { ...models, ...routes };
  return keys.flatMap((key, index) => {
    const before = keys.slice(0, index);
    const at = ['keys', index];
    const repeats = (field: 'name' | 'key') => key[field] !== '' && before.some(other => other[field] === key[field]);
    return [
      ...(repeats('name') ? [problem([...at, 'name'], 'another key has this name')] : []),
      ...(repeats('key') ? [problem([...at, 'key'], 'another entry has this key')] : []),
      // With a passthrough provider any name can be called.
      ...(passthrough === ''
        ? key.routes.flatMap((name, place) => unknown(callable, name, [...at, 'routes', place], 'route or model'))
        : []),
    ];
  });
}

function checkEmbedding({ embedding, providers }: Named): Problem[] {
  const { provider, model } = embedding;
  if (provider === '' || OWN_EMBEDDERS.includes(provider)) return [];
  return [
    ...unknown(providers, provider, ['embedding', 'provider'], 'provider'),
    ...(model === '' ? [problem(['embedding', 'model'], 'missing; a provider has many')] : []),
  ];
}

function checkJudge({ cache, models, routes, passthrough }: Named): Problem[] {
  if (passthrough !== '') return [];
  return unknown({ ...models, ...routes }, cache.judge.model, ['cache', 'judge', 'model'], 'route or model');
}

function unknown(table: object, name: string, path: Path, kind: string): Problem[] {
  if (name === '' || Object.hasOwn(table, name)) return [];
  const known = Object.keys(table)
    .slice(0, NAMES_SHOWN)
    .map(name => pathOf([name]))
    .join(', ');
  return [problem(path, `no ${kind} has this name${known === '' ? '' : ` (there is ${known})`}`)];
}

function problem(path: Path, message: string): Problem {
  return { path: pathOf(path), message };
}
