import type { Call, JsonObject, LimitSettings, ModelSettings, Usage } from '@spillway/contracts';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { tokensOf } from '../tokens';
import { Calibration } from './calibration';
import { NO_ERROR_YET, withCall, type EstimateError } from './estimate-error';
import { InOrder } from './in-order';
import type { InputMeasure } from './input-measure';
import { measureInput } from './measure-input';
import { OutputPrediction, type PredictedCall } from './output-prediction';
import { paceWith, SUPPOSED_PACE, underWayAt, type Pace } from './pace';

/** What an estimate looks at. */
export type EstimatedCall = PredictedCall & Pick<Call, 'operation'>;

/** What an estimate needs to know of a model: the name under which it is measured, one of a bounded set. */
type MeasuredModel = Pick<ModelSettings, 'metric_label'>;

type LimitedModel = MeasuredModel & { readonly limits: Pick<LimitSettings, 'tpm'> };

/** Reloads may bring ever new models; those unused for longest are learned anew. */
const MODELS = 1000;

/** What a call took that was answered. */
interface Answered {
  readonly usage: Usage;
  /** Milliseconds for which it was under way. */
  readonly ms: number;
}

/** To be told once how a call under way ended; null: without an answer whose usage is known. */
export type EndOfCall = (answered: Answered | null) => void;

interface Learned {
  readonly calibration: Calibration;
  /** The calls under way, to learn lengths and times in the order in which they began. */
  readonly underWay: InOrder<() => void>;
  error: EstimateError;
  pace: Pace;
}

/** Says how many tokens a call will take, and learns from what it took. */
@Injectable()
export class TokenEstimator {
  private readonly models = new LRUCache<string, Learned>({ max: MODELS });
  private readonly output = new OutputPrediction();
  /** By body, which is read once however many models are asked about it. */
  private readonly measures = new WeakMap<JsonObject, InputMeasure>();

  /** What a call may use at a model: its corrected input and, but for embeddings, a long answer of its kind. */
  predict(call: EstimatedCall, model: MeasuredModel): Usage {
    const measure = this.measureOf(call);
    const input = this.learnedOf(model).calibration.apply(measure);
    return { input, output: call.operation === 'embeddings' ? 0 : this.output.predict(call, measure.total()) };
  }

  /** Tokens to reserve of the limits of a model: a call, and its part of what all that are under way may need together. */
  reserve(call: EstimatedCall, model: LimitedModel): number {
    const limit = model.limits.tpm;
    if (limit === 0 || call.operation === 'embeddings') return tokensOf(this.predict(call, model));
    const measure = this.measureOf(call);
    const { calibration, pace } = this.learnedOf(model);
    const underWay = { limit, count: underWayAt(limit, pace) };
    return calibration.apply(measure) + this.output.reserve(call, measure.total(), underWay);
  }

  /** A call for which so many tokens are reserved goes out to a model; what is returned takes in how it ended. */
  begin(call: EstimatedCall, model: MeasuredModel, reserved: number): EndOfCall {
    const learned = this.learnedOf(model);
    const end = learned.underWay.begin();
    return answered => {
      if (answered === null || !isKnown(answered.usage)) return end(null);
      this.learnInput(learned, call, answered.usage, reserved);
      end(this.learningOf(learned, call, answered));
    };
  }

  /** Output tokens of a chat call: what answers to such calls usually have, and what its caller allows; null: not known. */
  outputBounds(call: EstimatedCall): { readonly usual: number | null; readonly allowed: number | null } {
    return { usual: this.output.usual(call, this.measureOf(call).total()), allowed: this.output.allowed(call) };
  }

  /** How well the estimates of a model did; null: nothing known yet. */
  errorOf(model: MeasuredModel): EstimateError | null {
    const error = this.models.peek(model.metric_label)?.error;
    return error === undefined || error.calls === 0 ? null : error;
  }

  private learnInput(learned: Learned, call: EstimatedCall, usage: Usage, reserved: number): void {
    const measure = this.measureOf(call);
    const inputError = Math.abs(learned.calibration.apply(measure) - usage.input) / usage.input;
    learned.error = withCall(learned.error, inputError, usage.input + usage.output > reserved);
    learned.calibration.learn(measure, usage.input);
  }

  /** What it returns may wait for calls that began before, and so does not keep the call, whose body may be large. */
  private learningOf(learned: Learned, call: EstimatedCall, { usage, ms }: Answered): () => void {
    const tokens = tokensOf(usage);
    const isChat = call.operation === 'chat';
    const learnLength = isChat ? this.output.learning(call, this.measureOf(call).total(), usage.output) : null;
    return () => {
      learned.pace = paceWith(learned.pace, { tokens, ms });
      learnLength?.();
    };
  }

  private measureOf(call: EstimatedCall): InputMeasure {
    const known = this.measures.get(call.body);
    if (known !== undefined) return known;
    const measure = measureInput(call.body, call.operation);
    this.measures.set(call.body, measure);
    return measure;
  }

  private learnedOf(model: MeasuredModel): Learned {
    const known = this.models.get(model.metric_label);
    if (known !== undefined) return known;
    const underWay = new InOrder<() => void>(learn => learn());
    const created: Learned = { calibration: new Calibration(), underWay, error: NO_ERROR_YET, pace: SUPPOSED_PACE };
    this.models.set(model.metric_label, created);
    return created;
  }
}

/** Providers report what they like. */
function isKnown({ input, output }: Usage): boolean {
  return Number.isFinite(input) && input > 0 && Number.isFinite(output);
}
