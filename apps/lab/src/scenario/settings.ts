import { PRIORITIES } from '@spillway/contracts';
import { DEFAULT_MODEL, type ModelPatch } from '../../../simulator/src/settings';
import type { Scale, Scenario } from './schema';

type Json = Readonly<Record<string, unknown>>;
type Model = Scenario['models'][string];

/** The route that all callers of the lab ask. */
export const ROUTE = 'assistant';
/** As Spillway's `priorities` has them; they shrink with the size. */
const QUEUE_LIMITS = { critical: 1000, normal: 5000, low: 10_000 };

/** What a model of the provider grants at this scale. Windows of 60 s stay 60 s; periods of growth shrink with time. */
export function grantedLimits({ limits }: Model, { size, time }: Scale): Model['limits'] {
  const scaled = (limit: number): number => (limit === 0 ? 0 : Math.max(1, Math.round(limit * size)));
  const { growth } = limits;
  return {
    rpm: scaled(limits.rpm),
    tpm: scaled(limits.tpm),
    inflight: scaled(limits.inflight),
    growth: growth && {
      ...growth,
      per_s: Math.max(1, Math.round(growth.per_s * time)),
      floor_rps: growth.floor_rps * size,
    },
  };
}

/** Seconds of the windows in which the provider counts. */
export function windowSeconds({ simulator }: Model): number {
  const { window_s } = simulator;
  return typeof window_s === 'number' ? window_s : DEFAULT_MODEL.window_s;
}

/** The same as the simulator is told it: a scenario speaks of minutes, the simulator of its windows. */
export function enforcedLimits(model: Model, scale: Scale): Model['limits'] {
  const limits = grantedLimits(model, scale);
  const within = (limit: number): number => Math.round((limit * windowSeconds(model)) / DEFAULT_MODEL.window_s);
  return { ...limits, rpm: within(limits.rpm), tpm: within(limits.tpm) };
}

/** A model of the simulator without its limits. */
export function simulatedModel(model: Model, seed: number): ModelPatch {
  return { ...(model.simulator as ModelPatch), seed };
}

/** Spillway's configuration; `limited`: whether its models state the limits of the provider. */
export function spillwayConfiguration(
  scenario: Scenario,
  scale: Scale,
  changes: Json,
  options: { readonly providerUrl: string; readonly limited: boolean },
): Json {
  const models = Object.entries(scenario.models).map(([name, model]): [string, Json] => {
    const { growth, ...limits } = grantedLimits(model, scale);
    const stated = options.limited && model.told ? { limits, ...(growth === null ? {} : { growth }) } : {};
    return [name, { provider: 'simulator', price: scenario.price, ...stated, ...scaledClimb(model.spillway, scale) }];
  });
  const priorities = PRIORITIES.map((priority): [string, Json] => [
    priority,
    {
      queue_limit: Math.max(1, Math.round(QUEUE_LIMITS[priority] * scale.size)),
      max_wait_ms: scenario.deadlines_s[priority] * 1000,
      deadline_ms: scenario.deadlines_s[priority] * 1000,
    },
  ]);
  const made = {
    providers: { simulator: { base_url: options.providerUrl } },
    models: Object.fromEntries(models),
    routes: { [ROUTE]: { chain: Object.keys(scenario.models) } },
    priorities: Object.fromEntries(priorities),
    log: { level: 'warn' },
  };
  return merged(merged(made, scenario.spillway), changes);
}

/** Rates of a climber shrink with the size, its steps with time. */
function scaledClimb(settings: Json, { size, time }: Scale): Json {
  const { climb } = settings;
  if (!isObject(climb)) return settings;
  const factors: Readonly<Record<string, number>> = { initial_rps: size, max_rps: size, interval_s: time };
  const scaled = Object.entries(climb).map(([key, value]) => [
    key,
    typeof value === 'number' ? value * (factors[key] ?? 1) : value,
  ]);
  return { ...settings, climb: Object.fromEntries(scaled) };
}

/** Objects are merged, all else is replaced. */
export function merged(base: Json, change: Json): Json {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(change)) {
    const old = result[key];
    result[key] = isObject(old) && isObject(value) ? merged(old, value) : value;
  }
  return result;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
