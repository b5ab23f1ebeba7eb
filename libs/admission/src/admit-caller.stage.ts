import { Injectable } from '@nestjs/common';
import { NotAllowed, type Answer, type Call, type Next, type Stage } from '@spillway/contracts';

/** Keeps a caller to the routes of its key. */
@Injectable()
export class AdmitCallerStage implements Stage {
  readonly name = 'admit-caller';

  async handle(call: Call, next: Next<Call>): Promise<Answer> {
    const { routes } = call.caller;
    if (routes !== null && !routes.includes(call.route.name)) {
      throw new NotAllowed('This API key may not use this model.', { param: 'model', retryable: false });
    }
    return next(call);
  }
}
