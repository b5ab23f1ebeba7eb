import { FAULT_KINDS, type SimulatedModel } from './settings';
import { FAMILIES, REFUSALS } from './vendor';

/** Settings that cannot be used; every problem with its path. */
export class InvalidSettings extends Error {
  readonly code = 'invalid_settings';
  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
  }
}

type Check = (value: unknown) => boolean;
interface Rules {
  readonly [key: string]: Check | Rules;
}

const isPositive: Check = value => isAmount(value) && value > 0;
const isShare: Check = value => isAmount(value) && value <= 1;
const isText: Check = value => typeof value === 'string';
const isFlag: Check = value => typeof value === 'boolean';
const isSize: Check = value => isAmount(value) && value >= 1 && value <= 4096 && Number.isInteger(value);
const isHttpStatus: Check = value => isAmount(value) && value >= 200 && value <= 599 && Number.isInteger(value);
const oneOf =
  (values: readonly unknown[]): Check =>
  value =>
    values.includes(value);
const optional =
  (check: Check): Check =>
  value =>
    value === undefined || check(value);

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** Whether a value is an object with these keys only, each of them right. */
const shaped =
  (checks: Readonly<Record<string, Check>>): Check =>
  value =>
    isRecord(value) &&
    Object.keys(value).every(key => Object.hasOwn(checks, key)) &&
    Object.entries(checks).every(([key, check]) => check(value[key]));

const isGrowth = shaped({ max_ratio: isAmount, per_s: isPositive, floor_rps: isAmount, floor_tps: optional(isAmount) });
const isLogNormal = shaped({ median: isPositive, sigma: isAmount });
const isRange = shaped({ min: isAmount, max: isAmount, lognormal: optional(isLogNormal) });
const isFault = shaped({
  kind: oneOf(FAULT_KINDS),
  probability: optional(isShare),
  after: optional(isAmount),
  times: optional(isAmount),
  status: optional(isHttpStatus),
  reason: optional(oneOf(REFUSALS)),
  retry_after_ms: optional(isAmount),
  after_chunks: optional(isAmount),
  factor: optional(isPositive),
  every_ms: optional(isPositive),
});

const RULES: Rules = {
  limits: {
    rpm: isAmount,
    tpm: isAmount,
    tpd: isAmount,
    inflight: isAmount,
    growth: value => value === null || isGrowth(value),
  },
  window_s: isPositive,
  day_s: isPositive,
  count_refused: isFlag,
  latency: { first_token_ms: isAmount, tokens_per_s: isAmount, jitter: isShare },
  answer: {
    mode: oneOf(['echo', 'fixed', 'lengths']),
    text: isText,
    tokens: value => isAmount(value) || isRange(value),
    quote: isFlag,
  },
  family: oneOf(FAMILIES),
  faults: value => Array.isArray(value) && value.every(isFault),
  dimensions: isSize,
  seed: isAmount,
};

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problemsOf(patch: unknown, rules: Rules, path: string): string[] {
  if (!isRecord(patch)) return [`${path || 'settings'}: must be an object`];
  return Object.entries(patch).flatMap(([key, value]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
    const at = path === '' ? key : `${path}.${key}`;
    if (rule === undefined) return [`${at}: is not known`];
    if (value === undefined) return [];
    if (typeof rule !== 'function') return problemsOf(value, rule, at);
    return rule(value) ? [] : [`${at}: is not valid`];
  });
}

function merge(base: Record<string, unknown>, patch: Record<string, unknown>, rules: Rules): Record<string, unknown> {
  const result = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    const rule = rules[key];
    const old = base[key];
    if (value === undefined) continue;
    result[key] = typeof rule === 'object' && isRecord(old) && isRecord(value) ? merge(old, value, rule) : value;
  }
  return result;
}

/** The settings after a change; throws `InvalidSettings` where the change says something that is not known. */
export function withPatch(settings: SimulatedModel, patch: unknown): SimulatedModel {
  const problems = problemsOf(patch, RULES, '');
  if (problems.length > 0 || !isRecord(patch)) throw new InvalidSettings(problems);
  return merge({ ...settings }, patch, RULES) as unknown as SimulatedModel;
}
