import { recordOf, type CallRecord } from '../results/records';
import { RightAnswers } from '../results/right-answers';
import type { ModelPatch } from '../../../simulator/src/settings';
import { runOpenLoop } from '../workload/open-loop';
import type { PlannedCall } from '../workload/plan';
import type { ScenarioEvent } from '../scenario/schema';
import { armResult, callsOf, eventsOf, GRACE_MS, samplingMs, type ArmResult } from './arm-result';
import { Observer } from './observer';
import { setStage, type ArmSetting, type Stage } from './stage';

/** Time between the last preparation and the first call. */
const LEAD_MS = 200;

/** Runs the planned calls against one arm. */
export async function runArm(setting: ArmSetting, calls: readonly PlannedCall[]): Promise<ArmResult> {
  const stage = await setStage(setting);
  try {
    return await perform(setting, stage, callsOf(setting.arm, calls));
  } finally {
    await stage.close();
  }
}

async function perform(setting: ArmSetting, stage: Stage, calls: readonly PlannedCall[]): Promise<ArmResult> {
  const before = await stage.simulator.stats();
  const startAt = performance.now() + LEAD_MS;
  const observer = new Observer(stage, before, startAt);
  observer.start(samplingMs(calls));
  const [records] = await Promise.all([
    makeCalls(setting, stage, observer, calls, startAt),
    runOpenLoop(eventsOf(setting), startAt, event => play(event, stage)),
  ]);
  await observer.stop();
  return armResult(setting, { records, samples: observer.samples, before, after: await stage.simulator.stats() });
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

async function play(event: ScenarioEvent, { simulator, redis, qdrant }: Stage): Promise<void> {
  if (event.model !== undefined) await simulator.configure(event.model, (event.settings ?? {}) as ModelPatch);
  if (event.redis === 'kill') await redis?.kill();
  if (event.redis === 'start') await redis?.restart();
  if (event.qdrant === 'kill') await qdrant?.kill();
  if (event.qdrant === 'start') await qdrant?.restart();
}
