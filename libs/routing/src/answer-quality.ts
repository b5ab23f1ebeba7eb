import { Injectable } from '@nestjs/common';
import type { Call, ModelSettings, QualitySignal } from '@spillway/contracts';
import { ModelHealth, QualityWatch, wantsJson, type InspectedAnswer } from '@spillway/health';
import { TokenEstimator } from '@spillway/quota';
import { Metrics } from '@spillway/telemetry';

/** What an attempt knows of the answer that it was given. */
export type GivenAnswer = Pick<InspectedAnswer, 'sample' | 'outputTokens' | 'writingMs'>;

/** Tells how bad an answer is that came; costs its reader nothing, as it is looked at afterwards. */
@Injectable()
export class AnswerQuality {
  private readonly watch = new QualityWatch();

  constructor(
    private readonly estimator: TokenEstimator,
    private readonly metrics: Metrics,
    private readonly health: ModelHealth,
  ) {}

  /** What the answer counts in the health of its model: 0 a good one, 1 a failure. Counts and notes what was found. */
  weigh(call: Call, model: ModelSettings, given: GivenAnswer): number {
    const { usual, allowed } = this.estimator.outputBounds(call);
    const answer = {
      ...given,
      usualTokens: usual,
      allowedTokens: allowed,
      wantsJson: wantsJson(call.body),
      isStream: call.streaming,
      failsCanary: this.health.failsCanary(model.name),
    };
    const { signals, weight } = this.watch.inspect(model.metric_label, answer, signal => this.counts(call, signal));
    this.tell(call, model, signals);
    return weight;
  }

  /** A model that answered with nothing has failed, unless the route takes that for an answer. */
  empty(call: Call, model: ModelSettings): boolean {
    if (!this.counts(call, 'empty')) return false;
    this.tell(call, model, ['empty']);
    return true;
  }

  private counts({ route }: Call, signal: QualitySignal): boolean {
    return route.quality?.[signal] ?? true;
  }

  private tell({ journal }: Call, model: ModelSettings, signals: readonly QualitySignal[]): void {
    if (signals.length === 0) return;
    for (const signal of signals) this.metrics.qualitySignal(model.metric_label, signal);
    journal.note({ kind: 'quality', model: model.name, signals });
  }
}
