import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ConfigStore, type ConfiguredModel } from '@spillway/config';
import { ModelHealth } from '@spillway/health';
import { ProbeCalls } from './probe-calls';
import { ProbeOffers } from './probe-offers';

const LOOK_EVERY_MS = 50;
/** So long a probe is offered to a LOW call before one is made up, ms. */
const OFFER_MS = 100;
/** The longest that a probe may take, ms; a model that needs longer for one token is not well. */
const PROBE_MS = 10_000;
/** What a probe may take beside its call: the offer, and a turn. */
const AROUND_MS = 2_000;

/** Sees to it that models that are not well are probed: by a LOW call where one comes, else by a call of our own. */
@Injectable()
export class Prober implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private readonly probing = new Set<string>();
  private readonly stopped = new AbortController();

  constructor(
    private readonly config: ConfigStore,
    private readonly health: ModelHealth,
    private readonly offers: ProbeOffers,
    private readonly calls: ProbeCalls,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.stopped.abort();
  }

  private look(): void {
    for (const model of this.config.current.models.values()) {
      if (this.probing.has(model.name) || !this.health.isProbeDue(model.name)) continue;
      this.probing.add(model.name);
      void this.probe(model).finally(() => this.probing.delete(model.name));
    }
  }

  private async probe(model: ConfiguredModel): Promise<void> {
    const withinMs = Math.min(PROBE_MS, model.timeout_ms);
    if (!(await this.health.claimProbe(model.name, withinMs + AROUND_MS))) return;
    this.offers.offer(model.name);
    await new Promise(resolve => setTimeout(resolve, OFFER_MS).unref());
    if (!this.offers.take(model.name) || this.stopped.signal.aborted) return;
    switch (await this.calls.make(model, withinMs, this.stopped.signal)) {
      case 'told':
        return;
      case 'alive':
        return this.offers.settle(model.name, 0);
      case 'late':
        return this.offers.settle(model.name, 1);
      case 'not-made':
        return this.offers.giveBack(model.name);
    }
  }
}
