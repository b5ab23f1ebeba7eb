import { seededRandom } from '../../../simulator/src/random';
import { BackoffCaller } from '../callers/backoff-caller';
import type { Caller } from '../callers/caller';
import { SdkCaller } from '../callers/sdk-caller';
import { SpillwayCaller } from '../callers/spillway-caller';
import { Workplace } from '../processes/program';
import { RedisProcess } from '../processes/redis';
import { SimulatorProcess } from '../processes/simulator';
import { SpillwayProcess } from '../processes/spillway';
import type { Arm, Scale, Scenario, SpillwayArm } from '../scenario/schema';
import {
  enforcedLimits,
  grantedLimits,
  merged,
  ROUTE,
  simulatedModel,
  spillwayConfiguration,
} from '../scenario/settings';
import { warmUp, WARMING } from './warm-up';
import type { QuestionPool } from '../workload/question-pool';

/** What one arm is made of. */
export interface ArmSetting {
  readonly scenario: Scenario;
  readonly scale: Scale;
  readonly arm: Arm;
  readonly pool: QuestionPool;
  readonly seed: number;
}

/** The processes of one arm, ready to be called. */
export interface Stage {
  readonly simulator: SimulatorProcess;
  readonly redis: RedisProcess | null;
  readonly spillway: SpillwayProcess | null;
  readonly caller: Caller;
  close(): Promise<void>;
}

/** Starts the provider, Spillway where the arm has it, and the caller; the provider's limits count from now on. */
export async function setStage(setting: ArmSetting): Promise<Stage> {
  const { scenario, scale, arm, seed } = setting;
  const workplace = new Workplace();
  const ends: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
    workplace.remove();
  };
  try {
    const models = Object.entries(scenario.models);
    const simulator = await SimulatorProcess.start(
      workplace,
      Object.fromEntries(models.map(([name, model]) => [name, simulatedModel(model, seed)])),
    );
    ends.push(() => simulator.stop());
    const router = arm.client === 'spillway' ? await startRouter(setting, arm, workplace, simulator.url, ends) : null;
    const caller = router?.caller ?? directCaller(setting, simulator.url);
    ends.push(() => caller.close());
    for (const [name, model] of models) await simulator.configure(name, { limits: enforcedLimits(model, scale) });
    return { simulator, redis: router?.redis ?? null, spillway: router?.spillway ?? null, caller, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Router {
  readonly redis: RedisProcess;
  readonly spillway: SpillwayProcess;
  readonly caller: SpillwayCaller;
}

/** Caches are warmed before the night, without limits; the limits are in force when calls begin. */
async function startRouter(
  { scenario, scale, pool }: ArmSetting,
  arm: SpillwayArm,
  workplace: Workplace,
  providerUrl: string,
  ends: (() => Promise<void>)[],
): Promise<Router> {
  const redis = await RedisProcess.start(workplace);
  ends.push(() => redis.kill());
  const configuration = (limited: boolean) =>
    spillwayConfiguration(scenario, scale, arm.spillway, { providerUrl, limited });
  const first = arm.prewarm === undefined ? configuration(true) : merged(configuration(false), WARMING);
  const spillway = await SpillwayProcess.start(workplace, first, redis.url);
  ends.push(() => spillway.stop());
  if (arm.prewarm !== undefined) {
    await warmUp(spillway, pool, arm.prewarm);
    await spillway.reconfigure(configuration(true));
  }
  return { redis, spillway, caller: new SpillwayCaller(spillway.url, ROUTE, arm.repeats) };
}

/** A client that calls the first model itself. */
function directCaller({ scenario, scale, arm, seed }: ArmSetting, url: string): Caller {
  const [first] = Object.entries(scenario.models);
  const [model, settings] = first ?? [ROUTE, null];
  switch (arm.client) {
    case 'sdk':
      return new SdkCaller(url, model, arm, settings === null ? 0 : grantedLimits(settings, scale).rpm);
    case 'backoff':
      return new BackoffCaller(url, model, arm.backoff, seededRandom(seed));
    case 'spillway':
      throw new Error('Spillway is no direct client.');
    default:
      return arm satisfies never;
  }
}
