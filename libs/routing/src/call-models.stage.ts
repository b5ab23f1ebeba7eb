import { Injectable } from '@nestjs/common';
import {
  Clock,
  Turns,
  type Answer,
  type AnswerParts,
  type Call,
  type CallWithTurn,
  type ModelSettings,
  type Stage,
  type Turn,
} from '@spillway/contracts';
import { UpstreamFailure } from '@spillway/providers';
import { NOTHING } from './attempt-end';
import { remainingAfter, verdict, type FailedModel } from './failures';
import { HedgedCaller } from './hedged-caller';
import { ModelPlanner } from './model-planner';

/**
 * The end of the path: calls the model whose turn the call has, and on a failure that another model may not share the
 * next one of the chain, each under a turn of its own and none twice. Once content has been passed on nothing is
 * tried again.
 */
@Injectable()
export class CallModelsStage implements Stage<CallWithTurn, never> {
  readonly name = 'call-models';

  constructor(
    private readonly caller: HedgedCaller,
    private readonly planner: ModelPlanner,
    private readonly turns: Turns,
    private readonly clock: Clock,
  ) {}

  async handle(call: CallWithTurn): Promise<Answer> {
    const failed: FailedModel[] = [];
    let remaining = call.planned;
    let turn = call.turn;
    for (;;) {
      if (remaining.length > 1 && this.planner.isOpen(turn.model)) {
        // It went down while the call waited; a turn for another costs less than its failure.
        turn.close('ignored', NOTHING);
        const avoided = turn.model;
        remaining = remaining.filter(model => model !== avoided);
      } else {
        const ran = await this.caller.call(call, turn, remaining);
        if (ran.kind === 'answered') return answerOf(call, ran.model, ran.parts);
        for (const failure of ran.failures) {
          failed.push(failure);
          const left = remainingAfter(remaining, failure);
          noteTooSmall(call, failure, remaining, left);
          remaining = left;
        }
        if (remaining.length === 0) throw verdict(failed);
      }
      turn = await this.nextTurn(call, remaining, failed);
    }
  }

  /** The wait until a model is called is over; for the next one the same patience starts anew. */
  private async nextTurn(call: Call, models: readonly ModelSettings[], failed: readonly FailedModel[]): Promise<Turn> {
    const patience = Math.max(0, call.turnBy - call.receivedAt);
    try {
      return await this.turns.take(Object.assign({}, call, { turnBy: this.clock.now() + patience }), models);
    } catch (error) {
      if (call.signal.aborted || failed.length === 0) throw error;
      throw verdict(failed);
    }
  }
}

function answerOf({ models, journal }: Call, model: ModelSettings, parts: AnswerParts): Answer {
  const isFirst = model === models[0];
  journal.model = model.name;
  if (!isFirst) journal.degraded = 'fallback-model';
  return { outcome: isFirst ? 'generated' : 'fallback-model', parts: translated(parts, model) };
}

/** Models that are not asked because the call is too long for them as well. */
function noteTooSmall(
  { journal }: Call,
  { model, failure }: FailedModel,
  before: readonly ModelSettings[],
  left: readonly ModelSettings[],
): void {
  if (failure.successor !== 'larger') return;
  for (const other of before) {
    if (other !== model && !left.includes(other))
      journal.note({ kind: 'skipped', model: other.name, why: 'too-small' });
  }
}

/** A failure after the first content, in the words a caller may see. */
function translated(parts: AnswerParts, model: ModelSettings): AnswerParts {
  if (parts.whole !== undefined) return parts;
  const source = parts[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        source.next().catch((error: unknown) => {
          throw error instanceof UpstreamFailure ? verdict([{ model, failure: error }]) : error;
        }),
      return: async () => (await source.return?.()) ?? { done: true, value: undefined },
    }),
  };
}
