import { loadSettings, readEnvironment, type Settings } from '@spillway/config';
import { PRIORITIES, type Priority } from '@spillway/contracts';
import { seededRandom } from '../../../simulator/src/random';
import type { ModelPatch } from '../../../simulator/src/settings';
import { armResult, callsOf, eventsOf, GRACE_MS, samplingMs, type ArmResult } from '../arm/arm-result';
import type { ArmSetting } from '../arm/stage';
import { waitMs } from '../callers/backoff-caller';
import { Workplace } from '../processes/program';
import { recordOf, type CallRecord } from '../results/records';
import { countsSince, type Sample } from '../results/samples';
import type { SpillwayArm } from '../scenario/schema';
import { enforcedLimits, grantedLimits, simulatedModel, spillwayConfiguration } from '../scenario/settings';
import type { PlannedCall } from '../workload/plan';
import { VirtualCache } from './virtual-cache';
import type { VirtualCaller } from './virtual-caller';
import { sdkPatience, VirtualClient } from './virtual-client';
import { VirtualProvider } from './virtual-provider';
import { VirtualRepeats } from './virtual-repeats';
import { VirtualSpillway } from './virtual-spillway';
import { VirtualTime } from './virtual-time';

/** Nobody is called there. */
const NOWHERE = 'http://127.0.0.1:9/v1';
/** Keeps the chances of caches apart from those of callers. */
const CACHE_SEED_STEP = 104_729;

/** Runs the planned calls against one arm in virtual time. */
export function runVirtualArm(setting: ArmSetting, planned: readonly PlannedCall[], recall: number): ArmResult {
  const { scenario, scale, seed, arm } = setting;
  const calls = callsOf(arm, planned);
  const time = new VirtualTime();
  const models = Object.entries(scenario.models).map(([name, model]): [string, ModelPatch] => [
    name,
    { ...simulatedModel(model, seed), limits: enforcedLimits(model, scale) },
  ]);
  const provider = new VirtualProvider(Object.fromEntries(models), time);
  const router = arm.client === 'spillway' ? startRouter(setting, arm, time, provider, recall) : null;
  const caller =
    router === null || arm.client !== 'spillway'
      ? directCaller(setting, time, provider)
      : new VirtualRepeats(time, router, arm.repeats);
  const before = provider.stats();
  const open: Record<Priority, number> = { critical: 0, normal: 0, low: 0 };
  const records: CallRecord[] = [];
  for (const event of eventsOf(setting)) time.after(event.ms, () => play(event, provider));
  for (const call of calls) time.after(call.ms, () => makeCall(call, { time, caller, open, records, setting }));
  const samples = sampled(calls, time, () => ({
    ms: time.elapsedMs,
    provider: Object.fromEntries(
      Object.entries(provider.stats()).map(([name, now]) => [name, countsSince(now, before[name])]),
    ),
    open: { ...open },
    queued: router === null ? null : byPriority(priority => router.permits.depth(priority)),
    rates: Object.fromEntries(
      models.map(([name]) => [name, router?.permits.explain(name).learned?.rate ?? null] as const),
    ),
    lost: null,
    process: null,
  }));
  time.run();
  const result = armResult(setting, { records, samples, before, after: provider.stats() });
  // Which answer a cache would have given is not known.
  return { ...result, figures: { ...result.figures, 'hits.wrong': null } };
}

interface Scene {
  readonly time: VirtualTime;
  readonly caller: VirtualCaller;
  readonly open: Record<Priority, number>;
  readonly records: CallRecord[];
  readonly setting: ArmSetting;
}

function makeCall(planned: PlannedCall, { time, caller, open, records, setting }: Scene): void {
  const startedAt = time.now();
  const deadlineMs = setting.scenario.deadlines_s[planned.priority] * 1000;
  let isOpen = true;
  const end = (reply: Parameters<typeof recordOf>[1]): void => {
    if (!isOpen) return;
    isOpen = false;
    open[planned.priority] -= 1;
    records.push(recordOf(planned, reply, time.now() - startedAt, deadlineMs, () => true));
  };
  open[planned.priority] += 1;
  const leave = caller.call(planned, end);
  time.after(deadlineMs + GRACE_MS, () => {
    if (isOpen) leave();
    end({ kind: 'error', status: null, tries: 1 });
  });
}

function play(event: ReturnType<typeof eventsOf>[number], provider: VirtualProvider): void {
  if (event.model !== undefined) provider.configure(event.model, (event.settings ?? {}) as ModelPatch);
}

/** Looks again and again until the last call has come, and once when all is over. */
function sampled(calls: readonly PlannedCall[], time: VirtualTime, look: () => Sample): Sample[] {
  const samples: Sample[] = [];
  const everyMs = samplingMs(calls);
  const lastMs = calls.at(-1)?.ms ?? 0;
  for (let ms = 0; ms <= lastMs; ms += everyMs) time.after(ms, () => samples.push(look()));
  return samples;
}

function byPriority(read: (priority: Priority) => number): Record<Priority, number> {
  return Object.fromEntries(PRIORITIES.map(priority => [priority, read(priority)])) as Record<Priority, number>;
}

function startRouter(
  setting: ArmSetting,
  arm: SpillwayArm,
  time: VirtualTime,
  provider: VirtualProvider,
  recall: number,
): VirtualSpillway {
  const { pool, seed } = setting;
  const cache = new VirtualCache(recall, seededRandom(seed + CACHE_SEED_STEP));
  if (arm.prewarm !== undefined) {
    const { products, intents, texts } = arm.prewarm;
    for (const question of pool.common(products, intents, texts)) cache.store(question);
  }
  return new VirtualSpillway(time, provider, settingsOf(setting, arm), cache);
}

/** The settings as a process would read them, with all defaults. */
function settingsOf({ scenario, scale }: ArmSetting, { spillway }: SpillwayArm): Settings {
  const workplace = new Workplace();
  try {
    const configuration = spillwayConfiguration(scenario, scale, spillway, { providerUrl: NOWHERE, limited: true });
    return loadSettings(readEnvironment({ SPILLWAY_CONFIG: workplace.write('spillway.yaml', configuration) }));
  } finally {
    workplace.remove();
  }
}

function directCaller({ scenario, scale, arm, seed }: ArmSetting, time: VirtualTime, provider: VirtualProvider) {
  const [first] = Object.entries(scenario.models);
  if (first === undefined) throw new Error('A scenario has a model.');
  const [name, model] = first;
  const random = seededRandom(seed);
  switch (arm.client) {
    case 'sdk': {
      const perWindow = arm.window_limit ? grantedLimits(model, scale).rpm : null;
      return new VirtualClient(time, provider, name, sdkPatience(arm, random), perWindow);
    }
    case 'backoff': {
      const { backoff } = arm;
      const patience = { attempts: backoff.attempts, waitMs: (retry: number) => waitMs(backoff, retry, random) };
      return new VirtualClient(time, provider, name, patience);
    }
    case 'spillway':
      throw new Error('Spillway is no direct client.');
    default:
      return arm satisfies never;
  }
}
