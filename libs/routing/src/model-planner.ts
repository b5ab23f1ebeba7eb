import { Injectable } from '@nestjs/common';
import { NoModelAvailable, type Call, type ModelSettings } from '@spillway/contracts';
import { ConfigStore } from '@spillway/config';
import { ModelHealth } from '@spillway/health';
import { HighLoad } from './high-load';
import { planChain, shedChain, type Candidate } from './plan';
import { ProbeOffers } from './probe-offers';

/** Whom a call may ask, in order, and what to do when its walk is over. */
export interface PlannedWalk {
  readonly models: readonly ModelSettings[];
  /** Null: nothing. */
  readonly end: (() => void) | null;
}

/** Plans the walk of each call from what this process knows of its models: looks into maps, waits for nothing. */
@Injectable()
export class ModelPlanner {
  /** Models that are down and still asked, by one call at a time. */
  private readonly lastResorts = new Set<string>();

  constructor(
    private readonly config: ConfigStore,
    private readonly health: ModelHealth,
    private readonly load: HighLoad,
    private readonly offers: ProbeOffers,
  ) {}

  /** @throws NoModelAvailable with the time of the next probe. */
  plan(call: Call): PlannedWalk {
    const chain = this.chainOf(call);
    const probed = call.priority === 'low' ? chain.find(({ name }) => this.offers.take(name)) : undefined;
    if (probed === undefined) return this.walkAlong(chain, call);
    const others = chain.filter(model => model !== probed);
    const rest = planChain(
      others.map(model => this.candidate(model)),
      call.priority,
    );
    return {
      models: [probed, ...rest.models],
      end: () => {
        if (call.journal.model !== probed.name) this.offers.giveBack(probed.name);
      },
    };
  }

  /** Whether a model has gone down since a call was planned. */
  isOpen({ name }: ModelSettings): boolean {
    const view = this.health.viewOf(name);
    return view !== null && (view.paused || view.state.kind === 'open');
  }

  /** Whether nothing is known against a model. */
  isWell({ name }: ModelSettings): boolean {
    const view = this.health.viewOf(name);
    return view === null || (view.state.kind === 'closed' && !view.paused);
  }

  private walkAlong(chain: readonly ModelSettings[], call: Call): PlannedWalk {
    if (chain.every(model => this.isWell(model))) return { models: chain, end: null };
    const candidates = chain.map(model => this.candidate(model));
    const { models, skipped, lastResort } = planChain(candidates, call.priority);
    for (const { model, why } of skipped) call.journal.note({ kind: 'skipped', model, why });
    if (models.length > 0) return { models, end: null };
    // Where a model still answers now and then, asking it is better than asking nobody.
    const isHopeful = lastResort !== null && lastResort.errorRate > 0 && lastResort.errorRate < 1;
    if (lastResort === null || (!isHopeful && this.lastResorts.has(lastResort.model.name))) {
      throw this.noModel(candidates);
    }
    const { model } = lastResort;
    if (isHopeful) return { models: [model], end: null };
    this.lastResorts.add(model.name);
    return { models: [model], end: () => this.lastResorts.delete(model.name) };
  }

  /** Under high load the chain from the model on that the class is shed to, if any of it can be called. */
  private chainOf(call: Call): readonly ModelSettings[] {
    if (call.priority === 'critical' || !this.load.isHigh) return call.models;
    const to = this.config.current.routes.get(call.route.name)?.shed_to[call.priority];
    if (to === undefined) return call.models;
    const chain = shedChain(call.models, to);
    if (!chain.some(model => this.isWell(model))) return call.models;
    for (const { name } of call.models) {
      if (!chain.some(model => model.name === name))
        call.journal.note({ kind: 'skipped', model: name, why: 'high-load' });
    }
    return chain;
  }

  private candidate(model: ModelSettings): Candidate {
    const view = this.health.viewOf(model.name);
    const errorRate = view === null ? 0 : this.health.errorRateOf(model.name);
    return { model, state: view?.state ?? null, paused: view?.paused ?? false, errorRate };
  }

  private noModel(candidates: readonly Candidate[]): NoModelAvailable {
    const now = this.health.now();
    const probes = candidates.flatMap(({ state, paused }) =>
      paused || state === null || state.kind === 'closed' ? [] : [Math.max(1, state.probeAt - now)],
    );
    const retryAfterMs = probes.length === 0 ? null : Math.min(...probes);
    return new NoModelAvailable('No model can take this call now.', { retryAfterMs });
  }
}
