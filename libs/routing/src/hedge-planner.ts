import { Injectable } from '@nestjs/common';
import type { Call, ModelSettings } from '@spillway/contracts';
import { ModelHealth } from '@spillway/health';
import { sizeOf, TokenEstimator, tokensOf } from '@spillway/quota';
import { chooseSecond, HedgeShare, mayHedge, type Choice } from './hedge';
import { HighLoad } from './high-load';
import { ModelPlanner } from './model-planner';

/** What a call may do when its model takes long. */
export interface HedgePlan {
  /** The size that is expected of the call, among calls of which the model's usual time is known. */
  readonly size: string;
  /** Milliseconds after which a second model is asked; null: nobody knows yet what is usual. */
  readonly afterMs: number | null;
}

/** Says when a second model is asked, and which, from what this process knows: looks into maps, waits for nothing. */
@Injectable()
export class HedgePlanner {
  /** By route. */
  private readonly shares = new Map<string, HedgeShare>();

  constructor(
    private readonly health: ModelHealth,
    private readonly planner: ModelPlanner,
    private readonly load: HighLoad,
    private readonly estimator: TokenEstimator,
  ) {}

  /** Null: it waits for its model, however long that takes. */
  plan(call: Call, model: ModelSettings): HedgePlan | null {
    const { hedge } = call.route;
    if (hedge === undefined || !mayHedge(call)) return null;
    if (call.journal.attempts === 0) this.shareOf(call).count(hedge.max_share);
    // Not what is reserved, which changes with the time that the model takes.
    const size = sizeOf(call, null, tokensOf(this.estimator.predict(call, model)));
    const usual = this.health.usualMs(model.name, size);
    return { size, afterMs: usual === null ? null : Math.max(usual, hedge.after_ms) };
  }

  /** Whom to ask beside a model that takes long. A second model that is not asked after all is given back. */
  choose(call: Call, others: readonly ModelSettings[]): Choice {
    return chooseSecond({
      isHighLoad: this.load.isHigh,
      others,
      isWell: model => this.planner.isWell(model),
      takeShare: () => this.shareOf(call).take(),
    });
  }

  giveBack(call: Call): void {
    this.shareOf(call).giveBack();
  }

  private shareOf({ route: { name } }: Call): HedgeShare {
    const known = this.shares.get(name);
    if (known !== undefined) return known;
    const created = new HedgeShare();
    this.shares.set(name, created);
    return created;
  }
}
