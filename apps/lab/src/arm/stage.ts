import { seededRandom } from '../../../simulator/src/random';
import { BackoffCaller } from '../callers/backoff-caller';
import type { Caller } from '../callers/caller';
import { SdkCaller } from '../callers/sdk-caller';
import { SpillwayCaller } from '../callers/spillway-caller';
import { Workplace } from '../processes/program';
import { startQdrant, type QdrantProcess } from '../processes/qdrant';
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
  readonly qdrant: QdrantProcess | null;
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
    const { redis = null, qdrant = null, spillway = null } = router ?? {};
    return { simulator, redis, qdrant, spillway, caller, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Router {
  readonly redis: RedisProcess;
  readonly qdrant: QdrantProcess | null;
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
  const qdrant = scenario.qdrant ? await startQdrant(workplace) : null;
  if (qdrant !== null) ends.push(() => qdrant.stop());
  const stores = qdrant === null ? {} : { qdrant: { collection: qdrant.collection } };
  const configuration = (limited: boolean) =>
    merged(spillwayConfiguration(scenario, scale, arm.spillway, { providerUrl, limited }), stores);
  const first = arm.prewarm === undefined ? configuration(true) : merged(configuration(false), WARMING);
  const spillway = await SpillwayProcess.start(workplace, first, {
    REDIS_URL: redis.url,
    ...(qdrant === null ? {} : { QDRANT_URL: qdrant.url }),
  });
  ends.push(() => spillway.stop());
  if (arm.prewarm !== undefined) {
    await warmUp(spillway, pool, arm.prewarm);
    await spillway.reconfigure(configuration(true));
  }
  return { redis, qdrant, spillway, caller: new SpillwayCaller(spillway.url, ROUTE, arm.repeats) };
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
