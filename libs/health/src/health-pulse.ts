import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Logger, Metrics } from '@spillway/telemetry';
import { HealthStore } from './health-store';
import { ModelHealth } from './model-health';
import type { ModelRecord } from './model-record';

const SHARE_EVERY_MS = 200;
const REFRESH_EVERY_MS = 1000;

/** Keeps what this process knows of the health of models and what the others know one, and tells of changes. */
@Injectable()
export class HealthPulse implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly timers: NodeJS.Timeout[] = [];
  private stopListening: () => void = () => undefined;

  constructor(
    private readonly health: ModelHealth,
    private readonly store: HealthStore,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    health.onChange((model, before, after) => this.tell(model, before, after));
  }

  /** The first look is awaited: what is known to be down must not be tried afresh by every new process. */
  async onApplicationBootstrap(): Promise<void> {
    await this.health.refresh();
    this.stopListening = this.store.onChange(() => void this.health.refresh());
    this.timers.push(
      setInterval(() => void this.health.flush(), SHARE_EVERY_MS).unref(),
      setInterval(() => void this.health.refresh(), REFRESH_EVERY_MS).unref(),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.stopListening();
    await this.health.flush();
  }

  private tell(model: string, before: ModelRecord, after: ModelRecord): void {
    const { state, pausedSince } = after;
    const fields = {
      model,
      from: before.state.kind,
      to: state.kind,
      why: state.kind === 'closed' ? null : state.why,
      error_rate: Math.round(this.health.errorRateOf(model) * 1000) / 1000,
      paused: pausedSince !== null,
    };
    if (before.state.kind !== state.kind) this.metrics.serviceChanged(model, state.kind);
    if (state.kind === 'open') this.logger.warn(fields, 'the health of a model has changed');
    else this.logger.info(fields, 'the health of a model has changed');
  }
}
