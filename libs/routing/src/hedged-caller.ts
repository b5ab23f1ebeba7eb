import { Inject, Injectable } from '@nestjs/common';
import { Turns, type Call, type HedgeRefusal, type ModelSettings, type Turn } from '@spillway/contracts';
import { NOTHING } from './attempt-end';
import { HedgePlanner } from './hedge-planner';
import { ModelCaller, type Runner } from './model-caller';
import { firstAnswer, outlasts, ranBy, type Ran } from './race';

/**
 * Calls the model whose turn a call has. Where the route wants it and the model takes longer than it usually does, a
 * second one is asked as well: who has content first answers, the other is given up at that moment.
 */
@Injectable()
export class HedgedCaller {
  constructor(
    @Inject(ModelCaller) private readonly caller: Pick<ModelCaller, 'call' | 'start'>,
    @Inject(HedgePlanner) private readonly planner: Pick<HedgePlanner, 'plan' | 'choose' | 'giveBack'>,
    private readonly turns: Turns,
  ) {}

  /** `models`: whom the call may ask, the one of its turn among them. @throws the reason of the call's signal. */
  async call(call: Call, turn: Turn, models: readonly ModelSettings[]): Promise<Ran> {
    const plan = this.planner.plan(call, turn.model);
    if (plan === null) return ranBy(turn.model, this.caller.call(call, turn));
    let isDecided = false;
    let second: Runner | null = null;
    const onContent = (): void => {
      isDecided = true;
      second?.outrun();
    };
    const first = this.caller.start(call, turn, { foreseen: plan.size, onContent });
    const ran = ranBy(turn.model, first.parts);
    if (plan.afterMs === null || !(await outlasts(ran, plan.afterMs))) return ran;
    const others = models.filter(model => model !== turn.model);
    const secondTurn = await this.turnBeside(call, others, plan.afterMs, () => isDecided);
    if (secondTurn === null) return ran;
    second = this.caller.start(call, secondTurn, { foreseen: null, onContent: () => first.outrun() });
    giveUpAfterRefusal(ran, second);
    const { journal } = call;
    journal.hedge = 'failed';
    const end = await firstAnswer(ran, ranBy(secondTurn.model, second.parts));
    if (end.kind === 'answered') journal.hedge = end.model === turn.model ? 'lost' : 'won';
    return end;
  }

  /** A turn of a second model; null: none is asked, for a reason that is noted, or as it is not needed any more. */
  private async turnBeside(
    call: Call,
    others: readonly ModelSettings[],
    afterMs: number,
    isDecided: () => boolean,
  ): Promise<Turn | null> {
    const choice = this.planner.choose(call, others);
    if (choice.kind === 'none') return refused(call, null, afterMs, choice.why);
    const { model } = choice;
    const turn = await this.turns.takeSpare(call, model);
    if (turn === null || isDecided()) {
      this.planner.giveBack(call);
      turn?.close('ignored', NOTHING);
      return isDecided() ? null : refused(call, model, afterMs, 'no-permit');
    }
    call.journal.note({ kind: 'hedge', model: model.name, afterMs, refused: null });
    return turn;
  }
}

function refused({ journal }: Call, model: ModelSettings | null, afterMs: number, why: HedgeRefusal): null {
  journal.note({ kind: 'hedge', model: model?.name ?? null, afterMs, refused: why });
  journal.hedge = why;
  return null;
}

/** What the first model refuses for a fault of the caller is not asked of others. */
function giveUpAfterRefusal(first: Promise<Ran>, second: Runner): void {
  first.then(
    ran => {
      if (ran.kind === 'failed' && ran.failures.some(({ failure }) => failure.successor === 'nobody')) second.outrun();
    },
    () => undefined,
  );
}
