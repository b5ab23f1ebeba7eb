import { runArm, type ArmResult } from './arm/run-arm';
import type { ArmSetting } from './arm/stage';
import type { Figures } from './results/figures';
import { verdictsOf, type Verdict } from './results/verdicts';
import { readPool, readScenario } from './scenario/read-file';
import type { Scale, Scenario } from './scenario/schema';
import { durationMs, fullCalls, planCalls, type PlannedCall } from './workload/plan';
import { QuestionPool } from './workload/question-pool';

/** How a scenario is to be run. */
export interface RunOptions {
  readonly name: string;
  readonly seed: number;
  readonly short: boolean;
  /** Divides the length of the scenario's curve; null: as its file says. */
  readonly compress: number | null;
  /** Only these arms; empty: all. */
  readonly arms: readonly string[];
  readonly tell: (line: string) => void;
}

/** A scenario after its run. */
export interface Experiment {
  readonly name: string;
  readonly scenario: Scenario;
  readonly scale: Scale;
  readonly seed: number;
  readonly products: number;
  readonly durationMs: number;
  readonly arms: readonly ArmResult[];
  /** What the model itself takes, without limits or anything between. */
  readonly floor: Figures;
  readonly verdicts: readonly Verdict[];
}

/** With fewer, popularity would have no meaning. */
const LEAST_PRODUCTS = 20;
const FLOOR_CALLS = 100;
const FLOOR_EVERY_MS = 50;

/** Runs all arms of a scenario on the same calls. */
export async function runExperiment(options: RunOptions): Promise<Experiment> {
  const scenario = readScenario(options.name);
  const { scale, products, pool, calls } = prepare(scenario, options);
  const setting = { scenario, scale, pool, seed: options.seed };
  options.tell(`${options.name}: ${calls.length} calls in ${seconds(durationMs(scenario, scale))} for each arm`);
  const floor = await measureFloor(setting, calls);
  const chosen = scenario.arms.filter(({ name }) => options.arms.length === 0 || options.arms.includes(name));
  const arms: ArmResult[] = [];
  for (let next = 0; next < chosen.length; next += scale.arms_at_once) {
    const together = chosen.slice(next, next + scale.arms_at_once);
    options.tell(`  ${together.map(({ name }) => name).join(', ')} …`);
    arms.push(...(await allOf(together.map(arm => runArm({ ...setting, arm }, calls)))));
  }
  const figures = Object.fromEntries([
    ['model', floor],
    ...arms.map(({ arm, figures }) => [arm.name, figures] as const),
  ]);
  return {
    name: options.name,
    scenario,
    scale,
    seed: options.seed,
    products,
    durationMs: durationMs(scenario, scale),
    arms,
    floor,
    verdicts: verdictsOf(scenario.targets, figures),
  };
}

/** The calls of a run. There are as many fewer products as there are fewer calls, so that they repeat as often. */
function prepare(scenario: Scenario, { short, compress, seed }: RunOptions) {
  const base = short ? scenario.short : scenario.scale;
  const scale = { ...base, time: compress === null ? base.time : 1 / compress };
  const expected = fullCalls(scenario) * scale.size * scale.time;
  const products = Math.max(LEAST_PRODUCTS, Math.round((scenario.products * expected) / fullCalls(scenario)));
  const pool = new QuestionPool(readPool(scenario.pool), products, scenario);
  return { scale, products, pool, calls: planCalls(scenario, scale, pool, seed) };
}

async function measureFloor(setting: Omit<ArmSetting, 'arm'>, calls: readonly PlannedCall[]): Promise<Figures> {
  const { scenario } = setting;
  const unlimited = Object.fromEntries(
    Object.entries(scenario.models).map(([name, model]) => [
      name,
      { ...model, limits: { rpm: 0, tpm: 0, inflight: 0, growth: null } },
    ]),
  );
  const backoff = { attempts: 1, base_ms: 1, factor: 1, most_ms: 1, jitter: 'none', jitter_share: 0 } as const;
  const arm = { name: 'model', title: 'The model itself', client: 'backoff', backoff } as const;
  const alone = { ...setting, arm, scenario: { ...scenario, models: unlimited, events: [] } };
  const spaced = calls.slice(0, FLOOR_CALLS).map((call, index) => ({ ...call, ms: index * FLOOR_EVERY_MS }));
  return (await runArm(alone, spaced)).figures;
}

/** Waits for all before it fails for one, so that nothing is left running. */
async function allOf<Value>(promises: readonly Promise<Value>[]): Promise<Value[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
