import type { Priority } from '@spillway/contracts';
import { PRIORITIES } from '@spillway/contracts';
import { seededRandom } from '../../../simulator/src/random';
import type { LoadStream, Scale, Scenario } from '../scenario/schema';
import { arrivalTimes } from './arrivals';
import { weighted } from './pick';
import type { Question, QuestionPool } from './question-pool';

/** A call that will be made, whatever became of those before it. */
export interface PlannedCall {
  /** Milliseconds after the start. */
  readonly ms: number;
  /** Name of the load it belongs to. */
  readonly load: string;
  readonly key: string | null;
  readonly priority: Priority;
  readonly question: Question;
}

const MS_PER_MINUTE = 60_000;
/** Keeps the streams of one seed apart. */
const STREAM_STEP = 7919;

/** All calls of a run in their order: the same for the same seed, whoever is to answer them. */
export function planCalls(scenario: Scenario, scale: Scale, pool: QuestionPool, seed: number): PlannedCall[] {
  return scenario.load
    .flatMap((load, index) => callsOf(load, scale, pool, seed + index * STREAM_STEP))
    .sort((one, other) => one.ms - other.ms);
}

/** Milliseconds that the arrivals of a scenario take. */
export function durationMs({ load }: Pick<Scenario, 'load'>, { time }: Scale): number {
  return Math.max(...load.map(({ curve }) => curve.at(-1)?.[0] ?? 0)) * MS_PER_MINUTE * time;
}

/** Calls that a scenario makes at full size and length. */
export function fullCalls({ load }: Pick<Scenario, 'load'>): number {
  const area = ({ curve }: LoadStream): number =>
    curve.slice(1).reduce((sum, [minute, rate], index) => {
      const [from, before] = curve[index] ?? [minute, rate];
      return sum + ((rate + before) / 2) * (minute - from);
    }, 0);
  return load.reduce((sum, stream) => sum + area(stream), 0);
}

function callsOf(load: LoadStream, scale: Scale, pool: QuestionPool, seed: number): PlannedCall[] {
  const curve = load.curve.map(([minute, perMinute]) => ({
    ms: minute * MS_PER_MINUTE * scale.time,
    perMs: (perMinute * scale.size) / MS_PER_MINUTE,
  }));
  const random = seededRandom(seed);
  const priorityOf = weighted(PRIORITIES.map(priority => load.classes[priority]));
  return arrivalTimes(curve, random).map(ms => {
    const priority = PRIORITIES[priorityOf(random)] ?? 'normal';
    return {
      ms,
      load: load.name,
      key: load.key ?? null,
      priority,
      question: pool.draw(load.kinds[priority], random),
    };
  });
}
