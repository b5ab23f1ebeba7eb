import { Inject, Injectable } from '@nestjs/common';
import {
  Clock,
  ControllerBelow,
  type AnswerParts,
  type Call,
  type CallSignal,
  type ModelSettings,
  type Turn,
} from '@spillway/contracts';
import { ModelHealth } from '@spillway/health';
import { Providers } from '@spillway/providers';
import { Metrics } from '@spillway/telemetry';
import { AnswerQuality } from './answer-quality';
import { Attempt, type HealthDesk, type Lane, type QualityDesk, type UpstreamMeter } from './attempt';
import { Outrun } from './attempt-end';
import { forwardedHeaders } from './forwarded-headers';

/** A call of a model while another one may be asked as well. */
export interface Runner {
  /** As of `ModelCaller.call`; once it is outrun they fail with Outrun. */
  readonly parts: Promise<AnswerParts>;
  /** Ends it at once, upstream as well: another model has answered. Does nothing when it has ended. */
  outrun(): void;
}

/** Calls one model under one turn; whoever must know learns how that ended. */
@Injectable()
export class ModelCaller {
  constructor(
    private readonly providers: Providers,
    private readonly clock: Clock,
    @Inject(Metrics) private readonly meter: UpstreamMeter,
    @Inject(ModelHealth) private readonly health: HealthDesk,
    @Inject(AnswerQuality) private readonly quality: QualityDesk,
  ) {}

  /**
   * Resolves with the parts of the answer once its first content is there; closes the turn on every path.
   * @throws UpstreamFailure, or the reason of the call's signal; so do the parts.
   */
  call(call: Call, turn: Turn): Promise<AnswerParts> {
    return this.open(this.attempt(call, turn), call, turn.model, call.signal);
  }

  /** The same where another model may be asked as well. */
  start(call: Call, turn: Turn, lane: Lane): Runner {
    const attempt = this.attempt(call, turn, lane);
    const leave = new ControllerBelow(call.signal);
    return {
      parts: this.open(attempt, call, turn.model, leave.signal),
      outrun: () => {
        attempt.outrun();
        leave.abort(new Outrun());
      },
    };
  }

  private attempt(call: Call, turn: Turn, lane: Lane | null = null): Attempt {
    const { meter, health, quality } = this;
    return new Attempt(call, turn, this.clock, { meter, health, quality }, lane);
  }

  private open(attempt: Attempt, call: Call, model: ModelSettings, signal: CallSignal): Promise<AnswerParts> {
    return attempt.open(() => {
      signal.throwIfAborted();
      const options = { streaming: call.streaming, signal, headers: forwardedHeaders(call) };
      return call.operation === 'chat'
        ? this.providers.chat(model, call.body, options)
        : this.providers.embeddings(model, call.body, options);
    });
  }
}
