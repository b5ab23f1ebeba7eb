import type { Call, ModelSettings } from '@spillway/contracts';
import { Groups } from '../groups';
import { Histogram } from '../histogram';
import { allowedOctaveOf } from './output-prediction';

/** What of a call says how long a model takes for it. */
type TimedCall = Pick<Call, 'body' | 'route' | 'streaming' | 'operation'>;
/** The name under which a model is measured. */
type TimedModel = Pick<ModelSettings, 'metric_label'>;

/** One of ten calls was faster than this. */
const LOW_QUANTILE = 0.1;
const GROUPS = 1000;

/**
 * How long models take for calls: to the first content of a stream, or for a whole answer. Calls are alike by route and by
 * the length that they allow. Each process learns from its own calls.
 */
export class ServiceTimes {
  private readonly groups = new Groups(GROUPS, () => new Histogram());

  /** Takes in how long a model took for a call that it answered, ms. */
  learn(call: TimedCall, model: TimedModel, ms: number): void {
    this.groups.add(groupOf(call, model), Math.max(1, ms));
  }

  /** What the fastest of the models takes at least for nine of ten such calls, ms; 0: not known of one of them. */
  least(call: TimedCall, models: readonly TimedModel[]): number {
    const times = models.map(model => this.groups.known(groupOf(call, model))?.quantile(LOW_QUANTILE) ?? 0);
    return times.length === 0 ? 0 : Math.min(...times);
  }
}

function groupOf(call: TimedCall, { metric_label }: TimedModel): string {
  const kind = call.streaming ? 'stream' : call.operation;
  return `${metric_label} ${kind} ${allowedOctaveOf(call)} ${call.route.name}`;
}
