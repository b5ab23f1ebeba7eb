import { Injectable } from '@nestjs/common';
import { Clock, textAnswer, type Answer, type Call, type Next, type Stage } from '@spillway/contracts';

/** Answers a call whose answer came with it, as a model would have done. */
@Injectable()
export class GivenAnswerStage implements Stage {
  readonly name = 'given-answer';

  constructor(private readonly clock: Clock) {}

  async handle(call: Call, next: Next<Call>): Promise<Answer> {
    if (call.given === undefined) return next(call);
    call.journal.usage = { input: 0, output: 0 };
    return { outcome: 'generated', parts: textAnswer(call, call.given, this.clock.now()) };
  }
}
