import type { ArmResult } from './arm/arm-result';
import { runArm } from './arm/run-arm';
import type { ArmSetting } from './arm/stage';
import type { Figures } from './results/figures';
import { boundArms, verdictsOf, type Verdict } from './results/verdicts';
import type { Change } from './scenario/what-if';
import { readPool, readScenario } from './scenario/read-file';
import type { Scale, Scenario } from './scenario/schema';
import { durationMs, fullCalls, planCalls, type PlannedCall } from './workload/plan';
import { runVirtualArm } from './virtual/run-virtual-arm';
import { QuestionPool } from './workload/question-pool';

/** How a scenario is to be run. */
export interface RunOptions {
  readonly name: string;
  /** The command that repeats it. */
  readonly command: string;
  readonly seed: number;
  readonly short: boolean;
  /** Another seed, with which the arms that have targets run once more; null: none. */
  readonly again: number | null;
  /** Divides the length of the scenario's curve; null: as its file says. */
  readonly compress: number | null;
  /** Only these arms; empty: all. */
  readonly arms: readonly string[];
  /** Changes of the scenario, by path. */
  readonly whatIf: readonly Change[];
  /** In virtual time, the whole length of the curve unless it is short; null: in real time. */
  readonly virtual: VirtualOptions | null;
  readonly tell: (line: string) => void;
}

interface VirtualOptions {
  /** Share of the wordings that caches recognise once another of the same question has been answered. */
  readonly recall: number;
}

/** A scenario after its run. */
export interface Experiment {
  readonly name: string;
  readonly command: string;
  readonly isShort: boolean;
  readonly whatIf: readonly Change[];
  readonly virtual: VirtualOptions | null;
  readonly scenario: Scenario;
  readonly scale: Scale;
  readonly seed: number;
  readonly products: number;
  readonly durationMs: number;
  readonly arms: readonly ArmResult[];
  /** What the model itself takes, without limits or anything between. */
  readonly floor: Figures;
  readonly verdicts: readonly Verdict[];
  /** The same with another seed; null: it was not asked for. */
  readonly again: { readonly seed: number; readonly verdicts: readonly Verdict[] } | null;
}

type RunArm = (setting: ArmSetting, calls: readonly PlannedCall[]) => Promise<ArmResult>;

/** With fewer, popularity would have no meaning. */
const LEAST_PRODUCTS = 20;
const FLOOR_CALLS = 100;
const FLOOR_EVERY_MS = 25;

/** Runs all arms of a scenario on the same calls. */
export async function runExperiment(options: RunOptions): Promise<Experiment> {
  const { whatIf, virtual } = options;
  const scenario = readScenario(options.name, whatIf);
  const { scale, products, pool, calls } = prepare(scenario, options);
  const setting = { scenario, scale, pool, seed: options.seed };
  const run: RunArm = virtual === null ? runArm : async (arm, planned) => runVirtualArm(arm, planned, virtual.recall);
  options.tell(`${options.name}: ${calls.length} calls in ${seconds(durationMs(scenario, scale))} for each arm`);
  const floor = await measureFloor(setting, calls, run);
  const chosen = scenario.arms.filter(({ name }) => options.arms.length === 0 || options.arms.includes(name));
  const arms: ArmResult[] = [];
  for (let next = 0; next < chosen.length; next += scale.arms_at_once) {
    const together = chosen.slice(next, next + scale.arms_at_once);
    options.tell(`  ${together.map(({ name }) => name).join(', ')} …`);
    arms.push(...(await allOf(together.map(arm => run({ ...setting, arm }, calls)))));
  }
  const figures = Object.fromEntries([
    ['model', floor],
    ...arms.map(({ arm, figures }) => [arm.name, figures] as const),
  ]);
  return {
    name: options.name,
    command: options.command,
    isShort: options.short,
    whatIf,
    virtual,
    scenario,
    scale,
    seed: options.seed,
    products,
    durationMs: durationMs(scenario, scale),
    arms,
    floor,
    verdicts: verdictsOf(
      scenario.targets.filter(({ arm }) => figures[arm] !== undefined),
      figures,
    ),
    again: options.again === null ? null : await runAgain(scenario, { ...options, seed: options.again }),
  };
}

/** With another seed, those arms of which something is demanded. */
async function runAgain({ targets, arms }: Scenario, options: RunOptions): Promise<Experiment['again']> {
  const demanded = new Set(targets.flatMap(target => [target.arm, ...boundArms(target)]));
  const names = arms.map(({ name }) => name).filter(name => demanded.has(name));
  const chosen = options.arms.length === 0 ? names : names.filter(name => options.arms.includes(name));
  const { seed, verdicts } = await runExperiment({ ...options, arms: chosen, again: null });
  return { seed, verdicts };
}

/** The calls of a run. There are as many fewer products as there are fewer calls, so that they repeat as often. */
function prepare(scenario: Scenario, { short, compress, seed, virtual }: RunOptions) {
  const base = short ? scenario.short : virtual === null ? scenario.scale : { ...scenario.scale, time: 1 };
  const scale = { ...base, time: compress === null ? base.time : 1 / compress };
  const expected = fullCalls(scenario) * scale.size * scale.time;
  const products = Math.max(LEAST_PRODUCTS, Math.round((scenario.products * expected) / fullCalls(scenario)));
  const pool = new QuestionPool(readPool(scenario.pool), products, scenario);
  return { scale, products, pool, calls: planCalls(scenario, scale, pool, seed) };
}

async function measureFloor(
  setting: Omit<ArmSetting, 'arm'>,
  calls: readonly PlannedCall[],
  run: RunArm,
): Promise<Figures> {
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
  return (await run(alone, spaced)).figures;
}

/** Waits for all before it fails for one, so that nothing is left running. */
async function allOf<Value>(promises: readonly Promise<Value>[]): Promise<Value[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
