import { figuresOf, type Figures } from '../results/figures';
import { quotaUse, type QuotaUse } from '../results/quota-use';
import { recordOf, type CallRecord } from '../results/records';
import { RightAnswers } from '../results/right-answers';
import { reachFigures } from '../results/reach';
import type { Sample } from '../results/samples';
import type { ModelPatch } from '../../../simulator/src/settings';
import { runOpenLoop } from '../workload/open-loop';
import { durationMs, type PlannedCall } from '../workload/plan';
import type { Arm, ScenarioEvent } from '../scenario/schema';
import { enforcedLimits, windowSeconds } from '../scenario/settings';
import { Observer } from './observer';
import { setStage, type ArmSetting, type Stage } from './stage';

const MS_PER_MINUTE = 60_000;
/** Share that Spillway leaves of a limit unless it is told otherwise. */
const HEADROOM = 0.2;
const SAMPLES = 300;
const LEAST_BETWEEN_SAMPLES_MS = 250;
/** Time between the last preparation and the first call. */
const LEAD_MS = 200;
/** Callers stay a little longer than their deadline, to see what they are told then. */
const GRACE_MS = 500;

/** One arm after its run. */
export interface ArmResult {
  readonly arm: Arm;
  readonly figures: Figures;
  readonly records: readonly CallRecord[];
  readonly samples: readonly Sample[];
  readonly use: readonly QuotaUse[];
}

/** Runs the planned calls against one arm. */
export async function runArm(setting: ArmSetting, calls: readonly PlannedCall[]): Promise<ArmResult> {
  const { loads } = setting.arm;
  const stage = await setStage(setting);
  try {
    return await perform(
      setting,
      stage,
      loads === undefined ? calls : calls.filter(({ load }) => loads.includes(load)),
    );
  } finally {
    await stage.close();
  }
}

async function perform(setting: ArmSetting, stage: Stage, calls: readonly PlannedCall[]): Promise<ArmResult> {
  const { scenario, scale, arm } = setting;
  const before = await stage.simulator.stats();
  const startAt = performance.now() + LEAD_MS;
  const observer = new Observer(stage, before, startAt);
  observer.start(Math.max(LEAST_BETWEEN_SAMPLES_MS, (calls.at(-1)?.ms ?? 0) / SAMPLES));
  const events = scenario.events.map(event => ({ ...event, ms: event.at_minute * MS_PER_MINUTE * scale.time }));
  const [records] = await Promise.all([
    makeCalls(setting, stage, observer, calls, startAt),
    runOpenLoop(events, startAt, event => play(event, stage)),
  ]);
  await observer.stop();
  const after = await stage.simulator.stats();
  const tokens = (what: 'tokens_in' | 'tokens_out'): number =>
    Object.entries(after).reduce((sum, [name, now]) => sum + now[what] - (before[name]?.[what] ?? 0), 0);
  const { samples } = observer;
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

async function makeCalls(
  { scenario, pool }: ArmSetting,
  { caller }: Stage,
  observer: Observer,
  calls: readonly PlannedCall[],
  startAt: number,
): Promise<CallRecord[]> {
  const right = new RightAnswers([...pool.common(1, Infinity, Infinity), ...calls.map(({ question }) => question)]);
  const records: CallRecord[] = [];
  await runOpenLoop(calls, startAt, async (planned, plannedAt) => {
    const deadlineMs = scenario.deadlines_s[planned.priority] * 1000;
    observer.open[planned.priority] += 1;
    const signal = AbortSignal.timeout(Math.ceil(Math.max(1, plannedAt + deadlineMs + GRACE_MS - performance.now())));
    const reply = await caller.call(planned, signal);
    observer.open[planned.priority] -= 1;
    const tookMs = performance.now() - plannedAt;
    records.push(recordOf(planned, reply, tookMs, deadlineMs, (text, call) => right.isRight(text, call)));
  });
  return records;
}

async function play(event: ScenarioEvent, { simulator, redis }: Stage): Promise<void> {
  if (event.model !== undefined) await simulator.configure(event.model, (event.settings ?? {}) as ModelPatch);
  if (event.redis === 'kill') await redis?.kill();
  if (event.redis === 'start') await redis?.restart();
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
