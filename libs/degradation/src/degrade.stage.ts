import { Injectable } from '@nestjs/common';
import { Clock, allowsStandIn, textAnswer, type Answer, type Call, type Next, type Stage } from '@spillway/contracts';

/**
 * The last rungs below a refusal or failure: a job where the caller prefers one, then the route's fallback text for the
 * class. Of a call that has become a job the error ends the path; the edge, which made the job, tells of it instead.
 */
@Injectable()
export class DegradeStage implements Stage {
  readonly name = 'degrade';

  constructor(private readonly clock: Clock) {}

  async handle(call: Call, next: Next<Call>): Promise<Answer> {
    try {
      return await next(call);
    } catch (error) {
      if (!allowsStandIn(error)) throw error;
      if ((await call.defer?.()) === true) {
        call.journal.note({ kind: 'deferred', insteadOf: error.code });
        throw error;
      }
      const text = fallbackFor(call);
      if (text === null) throw error;
      call.journal.note({ kind: 'fallback', insteadOf: error.code });
      call.journal.degraded = 'fallback-response';
      call.journal.model = null;
      return { outcome: 'fallback-response', parts: textAnswer(call, text, this.clock.now()) };
    }
  }
}

function fallbackFor({ operation, route, priority }: Call): string | null {
  return operation === 'chat' ? route.fallback_response[priority] : null;
}
