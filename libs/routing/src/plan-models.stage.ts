import { Injectable } from '@nestjs/common';
import type { Answer, Call, Next, PlannedCall, Stage } from '@spillway/contracts';
import { ModelPlanner } from './model-planner';

/** Chooses, before a turn is waited for, whom of its chain a call may ask: by health, pauses and high load. */
@Injectable()
export class PlanModelsStage implements Stage<Call, PlannedCall> {
  readonly name = 'plan-models';

  constructor(private readonly planner: ModelPlanner) {}

  async handle(call: Call, next: Next<PlannedCall>): Promise<Answer> {
    const { models, end } = this.planner.plan(call);
    if (end === null) return next({ planned: models, ...call });
    try {
      return await next({ planned: models, ...call });
    } finally {
      end();
    }
  }
}
