import type { Call, JsonObject, ModelSettings, Usage } from '@spillway/contracts';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Calibration } from './calibration';
import { NO_ERROR_YET, withCall, type EstimateError } from './estimate-error';
import type { InputMeasure } from './input-measure';
import { measureInput } from './measure-input';
import { OutputPrediction, type PredictedCall } from './output-prediction';

/** What an estimate looks at. */
export type EstimatedCall = PredictedCall & Pick<Call, 'operation'>;

/** What an estimate needs to know of a model: the name under which it is measured, one of a bounded set. */
type EstimatedModel = Pick<ModelSettings, 'metric_label'>;

/** Reloads may bring ever new models; those unused for longest are learned anew. */
const MODELS = 1000;

interface Learned {
  readonly calibration: Calibration;
  error: EstimateError;
}

/** Says how many tokens a call will take, and learns from what it took. */
@Injectable()
export class TokenEstimator {
  private readonly models = new LRUCache<string, Learned>({ max: MODELS });
  private readonly output = new OutputPrediction();
  /** By body, which is read once however many models are asked about it. */
  private readonly measures = new WeakMap<JsonObject, InputMeasure>();

  /** Tokens to reserve at a model: its corrected input and, but for embeddings, a long answer of its kind. */
  reserve(call: EstimatedCall, model: EstimatedModel): number {
    const measure = this.measureOf(call);
    const input = this.learnedOf(model).calibration.apply(measure);
    return call.operation === 'embeddings' ? input : input + this.output.predict(call, measure.total());
  }

  /** Takes in what a call used at a model, and what had been reserved for it. */
  learn(call: EstimatedCall, model: EstimatedModel, usage: Usage, reserved: number): void {
    if (!Number.isFinite(usage.input) || usage.input <= 0) return;
    const measure = this.measureOf(call);
    const learned = this.learnedOf(model);
    const inputError = Math.abs(learned.calibration.apply(measure) - usage.input) / usage.input;
    learned.error = withCall(learned.error, inputError, usage.input + usage.output > reserved);
    learned.calibration.learn(measure, usage.input);
    if (call.operation === 'chat') this.output.learn(call, measure.total(), usage.output);
  }

  /** Output tokens of a chat call: what answers to such calls usually have, and what its caller allows; null: not known. */
  outputBounds(call: EstimatedCall): { readonly usual: number | null; readonly allowed: number | null } {
    return { usual: this.output.usual(call, this.measureOf(call).total()), allowed: this.output.allowed(call) };
  }

  /** How well the estimates of a model did; null: nothing known yet. */
  errorOf(model: EstimatedModel): EstimateError | null {
    const error = this.models.peek(model.metric_label)?.error;
    return error === undefined || error.calls === 0 ? null : error;
  }

  private measureOf(call: EstimatedCall): InputMeasure {
    const known = this.measures.get(call.body);
    if (known !== undefined) return known;
    const measure = measureInput(call.body, call.operation);
    this.measures.set(call.body, measure);
    return measure;
  }

  private learnedOf(model: EstimatedModel): Learned {
    const known = this.models.get(model.metric_label);
    if (known !== undefined) return known;
    const created = { calibration: new Calibration(), error: NO_ERROR_YET };
    this.models.set(model.metric_label, created);
    return created;
  }
}
