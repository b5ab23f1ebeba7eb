import { Turns, type Call, type ModelSettings, type Turn } from '@spillway/contracts';
import { RedisUnavailable } from '@spillway/redis';

/** Turns by Redis, and whether it is lost. */
export interface LosableTurns {
  readonly turns: Turns;
  readonly lost: boolean;
}

/** Turns of this process alone, which count those that it has from Redis. */
interface LocalTurns extends Turns {
  adopt(call: Call, turn: Turn): Turn;
}

/**
 * Turns that outlive Redis: shared ones while it answers, this process's own while it does not. A call whose shared
 * wait is cut off starts again in memory, with what is left of its time.
 */
export class ResilientTurns extends Turns {
  constructor(
    private readonly shared: LosableTurns,
    private readonly local: LocalTurns,
  ) {
    super();
  }

  async take(call: Call, models: readonly ModelSettings[]): Promise<Turn> {
    if (this.shared.lost) return this.takeAlone(call, models);
    try {
      return this.local.adopt(call, await this.shared.turns.take(call, models));
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      return this.takeAlone(call, models);
    }
  }

  /** While Redis is lost nobody knows what others want. */
  async takeSpare(call: Call, model: ModelSettings): Promise<Turn | null> {
    const turn = this.shared.lost ? null : await this.shared.turns.takeSpare(call, model);
    return turn && this.local.adopt(call, turn);
  }

  private takeAlone(call: Call, models: readonly ModelSettings[]): Promise<Turn> {
    call.journal.limitsAreLocal = true;
    return this.local.take(call, models);
  }
}
