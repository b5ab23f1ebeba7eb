import { Injectable } from '@nestjs/common';
import { ConfigStore, type ConfiguredModel } from '@spillway/config';
import { ModelHealth, healthReport, type HealthReport } from '@spillway/health';
import {
  EffectiveLimits,
  TokenEstimator,
  type EffectiveReport,
  type EstimateError,
  type ModelReport,
} from '@spillway/quota';
import { Scheduling } from '@spillway/scheduling';

/** A model as an operator sees it. */
export interface ModelStatus extends ModelReport {
  /** How it is, as this process knows it. */
  readonly health: HealthReport;
  /** Calls under way in all processes. */
  readonly inflight: number;
  /** The in-flight limit as it is now, and what makes the limits of the model what they are. */
  readonly effective: EffectiveReport | null;
  /** How well this process estimates tokens there; null: nothing known yet. */
  readonly estimates: EstimateError | null;
}

/** What the configured models are doing. */
@Injectable()
export class ModelStatuses {
  constructor(
    private readonly config: ConfigStore,
    private readonly scheduling: Scheduling,
    private readonly estimator: TokenEstimator,
    private readonly limits: EffectiveLimits,
    private readonly health: ModelHealth,
  ) {}

  /** How a configured model is; undefined: there is none of this name. */
  healthOf(name: string): HealthReport | undefined {
    const model = this.config.current.models.get(name);
    return model && this.healthOfModel(model);
  }

  /** The same of all of them. */
  allHealth(): Readonly<Record<string, HealthReport>> {
    const { models } = this.config.current;
    return Object.fromEntries([...models.values()].map(model => [model.name, this.healthOfModel(model)]));
  }

  private healthOfModel({ name, breaker }: ConfiguredModel): HealthReport {
    return healthReport(this.health.recordOf(name), breaker, this.health.now());
  }

  async all(): Promise<Readonly<Record<string, ModelStatus>>> {
    const inflight = await this.scheduling.inflight();
    const statusOf = async (model: ConfiguredModel): Promise<[string, ModelStatus]> => [
      model.name,
      {
        health: this.healthOfModel(model),
        inflight: inflight[model.name] ?? 0,
        ...(await this.scheduling.explain(model.name)),
        effective: this.limits.report(model.name),
        estimates: this.estimator.errorOf(model),
      },
    ];
    return Object.fromEntries(await Promise.all([...this.config.current.models.values()].map(statusOf)));
  }
}
