import { Inject, Injectable } from '@nestjs/common';
import {
  Clock,
  Turns,
  type Answer,
  type AnswerPart,
  type Call,
  type CallWithTurn,
  type ModelSettings,
  type Stage,
  type Turn,
} from '@spillway/contracts';
import { Providers, UpstreamFailure } from '@spillway/providers';
import { Metrics } from '@spillway/telemetry';
import { Attempt, type UpstreamMeter } from './attempt';
import { remainingAfter, verdict, type FailedModel } from './failures';
import { forwardedHeaders } from './forwarded-headers';

/**
 * The end of the path: calls the model whose turn the call has, and on a failure that another model may not share the
 * next one of the chain, each under a turn of its own and none twice. Once content has been passed on nothing is
 * tried again.
 */
@Injectable()
export class CallModelsStage implements Stage<CallWithTurn, never> {
  readonly name = 'call-models';

  constructor(
    private readonly providers: Providers,
    private readonly turns: Turns,
    private readonly clock: Clock,
    @Inject(Metrics) private readonly meter: UpstreamMeter,
  ) {}

  async handle(call: CallWithTurn): Promise<Answer> {
    const failed: FailedModel[] = [];
    let remaining: readonly ModelSettings[] = call.models;
    let turn = call.turn;
    for (;;) {
      try {
        return await this.attempt(call, turn);
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
      if (call.signal.aborted) throw error;
      throw verdict(failed);
    }
  }

  private async attempt(call: CallWithTurn, turn: Turn): Promise<Answer> {
    const { model } = turn;
    const attempt = new Attempt(call, turn, this.clock, this.meter);
    const parts = await attempt.open(() => {
      call.signal.throwIfAborted();
      const options = { streaming: call.streaming, signal: call.signal, headers: forwardedHeaders(call) };
      return call.operation === 'chat'
        ? this.providers.chat(model, call.body, options)
        : this.providers.embeddings(model, call.body, options);
    });
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
function translated(parts: AsyncIterable<AnswerPart>, model: ModelSettings): AsyncIterable<AnswerPart> {
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
