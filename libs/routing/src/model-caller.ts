import { Inject, Injectable } from '@nestjs/common';
import { Clock, type AnswerParts, type Call, type Turn } from '@spillway/contracts';
import { ModelHealth } from '@spillway/health';
import { Providers } from '@spillway/providers';
import { Metrics } from '@spillway/telemetry';
import { AnswerQuality } from './answer-quality';
import { Attempt, type HealthDesk, type QualityDesk, type UpstreamMeter } from './attempt';
import { forwardedHeaders } from './forwarded-headers';

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
    const { model } = turn;
    const { meter, health, quality } = this;
    const attempt = new Attempt(call, turn, this.clock, { meter, health, quality });
    return attempt.open(() => {
      call.signal.throwIfAborted();
      const options = { streaming: call.streaming, signal: call.signal, headers: forwardedHeaders(call) };
      return call.operation === 'chat'
        ? this.providers.chat(model, call.body, options)
        : this.providers.embeddings(model, call.body, options);
    });
  }
}
