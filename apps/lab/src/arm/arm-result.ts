import type { ModelStats } from '../../../simulator/src/model-state';
import { figuresOf, type Figures } from '../results/figures';
import { quotaUse, type QuotaUse } from '../results/quota-use';
import { reachFigures } from '../results/reach';
import type { CallRecord } from '../results/records';
import type { Sample } from '../results/samples';
import type { Arm, ScenarioEvent } from '../scenario/schema';
import { enforcedLimits, windowSeconds } from '../scenario/settings';
import { durationMs, type PlannedCall } from '../workload/plan';
import type { ArmSetting } from './stage';

const MS_PER_MINUTE = 60_000;
/** Share that Spillway leaves of a limit unless it is told otherwise. */
const HEADROOM = 0.2;
const SAMPLES = 300;
const LEAST_BETWEEN_SAMPLES_MS = 250;
/** Callers stay a little longer than their deadline, to see what they are told then. */
export const GRACE_MS = 500;

/** One arm after its run. */
export interface ArmResult {
  readonly arm: Arm;
  readonly figures: Figures;
  readonly records: readonly CallRecord[];
  readonly samples: readonly Sample[];
  readonly use: readonly QuotaUse[];
}

/** What a run has left behind: its calls, what was seen meanwhile, the provider's counts before and after. */
interface Traces {
  readonly records: readonly CallRecord[];
  readonly samples: readonly Sample[];
  readonly before: Readonly<Record<string, ModelStats>>;
  readonly after: Readonly<Record<string, ModelStats>>;
}

export function armResult(setting: ArmSetting, { records, samples, before, after }: Traces): ArmResult {
  const { scenario, scale, arm } = setting;
  const tokens = (what: 'tokens_in' | 'tokens_out'): number =>
    Object.entries(after).reduce((sum, [name, now]) => sum + now[what] - (before[name]?.[what] ?? 0), 0);
  const use = firstModelUse(setting, samples);
  const figures = {
    ...figuresOf({
      records,
      samples,
      use,
      price: scenario.price,
      tokens: { input: tokens('tokens_in'), output: tokens('tokens_out') },
    }),
    ...reachFigures(samples, durationMs(scenario, scale), (scenario.capacity_per_s ?? 0) * scale.size),
  };
  return { arm, figures, records, samples, use };
}

/** The calls in which an arm takes part. */
export function callsOf({ loads }: Arm, calls: readonly PlannedCall[]): readonly PlannedCall[] {
  return loads === undefined ? calls : calls.filter(({ load }) => loads.includes(load));
}

/** What happens during a run, at its milliseconds. */
export function eventsOf({ scenario, scale }: ArmSetting): (ScenarioEvent & { readonly ms: number })[] {
  return scenario.events.map(event => ({ ...event, ms: event.at_minute * MS_PER_MINUTE * scale.time }));
}

/** Milliseconds between two looks at a run. */
export function samplingMs(calls: readonly PlannedCall[]): number {
  return Math.max(LEAST_BETWEEN_SAMPLES_MS, (calls.at(-1)?.ms ?? 0) / SAMPLES);
}

function firstModelUse({ scenario, scale }: ArmSetting, samples: readonly Sample[]): QuotaUse[] {
  const [first] = Object.entries(scenario.models);
  if (first === undefined) return [];
  const [name, model] = first;
  const { headroom } = model.spillway;
  return quotaUse(samples, name, {
    limits: enforcedLimits(model, scale),
    headroom: typeof headroom === 'number' ? headroom : HEADROOM,
    windowMs: windowSeconds(model) * 1000,
  });
}
