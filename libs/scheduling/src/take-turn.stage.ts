import { Injectable } from '@nestjs/common';
import { Turns, type Answer, type CallWithTurn, type Next, type PlannedCall, type Stage } from '@spillway/contracts';

/** Holds a call until a model may be called for it. Whoever gets the call from here closes its turn. */
@Injectable()
export class TakeTurnStage implements Stage<PlannedCall, CallWithTurn> {
  readonly name = 'take-turn';

  constructor(private readonly turns: Turns) {}

  async handle(call: PlannedCall, next: Next<CallWithTurn>): Promise<Answer> {
    const turn = await this.turns.take(call, call.planned);
    let answer: Promise<Answer>;
    try {
      answer = next({ turn, ...call });
    } catch (error) {
      turn.close('ignored');
      throw error;
    }
    return answer;
  }
}
