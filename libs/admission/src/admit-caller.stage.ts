import { Injectable } from '@nestjs/common';
import { NotAllowed, withEnd, type Answer, type Call, type Journal, type Next, type Stage } from '@spillway/contracts';
import type { CallerPermit } from './admissions';
import { CallerBudgets } from './caller-budgets';
import { CallerLimits } from './caller-limits';

/** Keeps a caller to the routes of its key and to what it may use. */
@Injectable()
export class AdmitCallerStage implements Stage {
  readonly name = 'admit-caller';

  constructor(
    private readonly budgets: CallerBudgets,
    private readonly limits: CallerLimits,
  ) {}

  async handle(call: Call, next: Next<Call>): Promise<Answer> {
    const { routes } = call.caller;
    if (routes !== null && !routes.includes(call.route.name)) {
      throw new NotAllowed('This API key may not use this model.', { param: 'model', retryable: false });
    }
    const budgets = this.budgets.of(call);
    if (budgets.length === 0) return next(call);
    const permit = await this.limits.admit(call, budgets);
    let answer: Answer;
    try {
      answer = await next(call);
    } catch (error) {
      settle(permit, call.journal, false);
      throw error;
    }
    const answered = answer.outcome !== 'fallback-response';
    return { outcome: answer.outcome, parts: withEnd(answer.parts, () => settle(permit, call.journal, answered)) };
  }
}

/**
 * A call that reached a model counts, with the tokens that were used, if that is known. One that was answered without
 * a model counts with none. One that got no answer of its own because of us was never made.
 */
function settle(permit: CallerPermit, { attempts, usage }: Journal, answered: boolean): void {
  if (attempts > 0) permit.close(usage && usage.input + usage.output);
  else if (answered) permit.close(0);
  else permit.withdraw();
}
