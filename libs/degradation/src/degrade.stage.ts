import { Injectable } from '@nestjs/common';
import {
  Clock,
  SpillwayError,
  partsOf,
  textCompletion,
  wholePart,
  type Answer,
  type Call,
  type Next,
  type Stage,
} from '@spillway/contracts';

/** Turns a refusal or failure below it into the route's fallback answer for the class, where there is one. */
@Injectable()
export class DegradeStage implements Stage {
  readonly name = 'degrade';

  constructor(private readonly clock: Clock) {}

  async handle(call: Call, next: Next<Call>): Promise<Answer> {
    try {
      return await next(call);
    } catch (error) {
      if (!(error instanceof SpillwayError)) throw error;
      const text = fallbackFor(call, error);
      if (text === null) throw error;
      call.journal.note({ kind: 'fallback', insteadOf: error.code });
      call.journal.degraded = 'fallback-response';
      call.journal.model = null;
      return {
        outcome: 'fallback-response',
        parts: partsOf(wholePart(textCompletion(call, call.route.name, text, this.clock.now()))),
      };
    }
  }
}

function fallbackFor(call: Call, error: SpillwayError): string | null {
  if (call.operation !== 'chat') return null;
  const graceful = error.code === 'queue_full' || [502, 503, 504].includes(error.status);
  return graceful ? call.route.fallback_response[call.priority] : null;
}
