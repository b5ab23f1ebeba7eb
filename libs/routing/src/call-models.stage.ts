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
import { remainingAfter, verdict, type FailedModel } from './failures';
import { ModelCaller } from './model-caller';
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
    private readonly caller: ModelCaller,
    private readonly planner: ModelPlanner,
    private readonly turns: Turns,
    private readonly clock: Clock,
  ) {}

  async handle(call: CallWithTurn): Promise<Answer> {
    const failed: FailedModel[] = [];
    let remaining = call.planned;
    let turn = call.turn;
    for (;;) {
      try {
        if (remaining.length === 1 || !this.planner.isOpen(turn.model)) return await this.attempt(call, turn);
        // It went down while the call waited; a turn for another costs less than its failure.
        turn.close('ignored', { input: 0, output: 0 });
        const avoided = turn.model;
        remaining = remaining.filter(model => model !== avoided);
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        const failure = { model: turn.model, failure: error };
        failed.push(failure);
        const left = remainingAfter(remaining, failure);
        noteTooSmall(call, failure, remaining, left);
        remaining = left;
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

  private async attempt(call: CallWithTurn, turn: Turn): Promise<Answer> {
    const { model } = turn;
    const parts = await this.caller.call(call, turn);
    const isFirst = model === call.models[0];
    call.journal.model = model.name;
    if (!isFirst) call.journal.degraded = 'fallback-model';
    return { outcome: isFirst ? 'generated' : 'fallback-model', parts: translated(parts, model) };
  }
}

/** Models that are not asked because the call is too long for them as well. */
function noteTooSmall(
  { journal }: Call,
  { model, failure }: FailedModel,
  before: readonly ModelSettings[],
  left: readonly ModelSettings[],
): void {
  if (failure.kind !== 'context-length') return;
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
