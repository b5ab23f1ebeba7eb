import { LRUCache } from 'lru-cache';
import { name as nameSchema } from './scalars';
import type { ConfiguredModel, ConfiguredRoute, Settings } from './settings';

/** How a model alone becomes a route, and an unknown name a model (null: it does not). */
export interface SingleModels {
  readonly route: (model: ConfiguredModel) => ConfiguredRoute;
  readonly passed: ((name: string) => ConfiguredModel) | null;
}

/** Callers choose these names, so only this many are remembered. */
const PASSED_ENTRIES = 500;

const nameFormat = nameSchema();

export function targetOf(
  routes: ReadonlyMap<string, ConfiguredRoute>,
  models: ReadonlyMap<string, ConfiguredModel>,
  single: SingleModels,
): Settings['target'] {
  const configured = new Map(routes);
  for (const model of models.values()) configured.set(model.name, single.route(model));
  const passed = new LRUCache<string, ConfiguredRoute>({ max: PASSED_ENTRIES });
  return name => {
    const known = configured.get(name) ?? passed.get(name);
    if (known !== undefined || single.passed === null || !nameFormat.safeParse(name).success) return known;
    const route = single.route(single.passed(name));
    passed.set(name, route);
    return route;
  };
}
