import { Injectable } from '@nestjs/common';
import {
  Clock,
  ControllerBelow,
  DeadlineExceeded,
  ModelNotFound,
  OTHER,
  lowerOf,
  type Answer,
  type Call,
  type IncomingCall,
  type Next,
  type Priority,
  type PriorityControl,
  type Stage,
} from '@spillway/contracts';
import { ConfigStore, type ClassifyRule, type Settings } from '@spillway/config';
import { headerText } from './header-text';

/** Decides what a call is for, how important it is and until when it makes sense; holds it to its deadline. */
@Injectable()
export class ClassifyStage implements Stage<IncomingCall, Call> {
  readonly name = 'classify';

  constructor(
    private readonly config: ConfigStore,
    private readonly clock: Clock,
  ) {}

  async handle(incoming: IncomingCall, next: Next<Call>): Promise<Answer> {
    const settings = this.config.current;
    const call = classify(incoming, settings);
    call.journal.route = call.route.name;
    call.journal.routeLabel = settings.isConfigured(call.route.name) ? call.route.name : OTHER;
    if (call.answerBy === undefined) return next(call);
    return this.withDeadline(call, call.answerBy, next);
  }

  /** The deadline holds until the answer's first content (streamed) or the whole answer is there. */
  private async withDeadline(call: Call, answerBy: number, next: Next<Call>): Promise<Answer> {
    const limited = new ControllerBelow(call.signal);
    const timer = setTimeout(
      () => limited.abort(new DeadlineExceeded('The deadline of the call has passed.')),
      Math.max(0, answerBy - this.clock.now()),
    );
    try {
      return await next(Object.assign({}, call, { signal: limited.signal }));
    } finally {
      clearTimeout(timer);
      // The answer is whole, or there is none. Calls of one job may share a signal, and be many.
      if (!call.streaming) limited.leave();
    }
  }
}

/** @throws ModelNotFound when `model` names neither a route nor a model; its class is known even then. */
export function classify(incoming: IncomingCall, settings: Settings): Call {
  const { caller, controls, receivedAt, journal, body } = incoming;
  const name = typeof body['model'] === 'string' ? body['model'] : '';
  const { priority: wanted, by, rule } = wantedFor(incoming, name, settings.classify);
  const priority = lowerOf(wanted, caller.max_priority);
  const loweredFrom = priority === wanted ? null : wanted;
  journal.priority = priority;
  journal.requestedPriority = loweredFrom;
  const route = settings.target(name);
  if (route === undefined) {
    throw new ModelNotFound(`The model ${JSON.stringify(name)} is neither a route nor a model here.`, {
      param: 'model',
      retryable: false,
    });
  }
  const defaults = settings.priorities[priority];
  const deadlineMs = controls.deadlineMs ?? defaults.deadline_ms;
  const answerBy = deadlineMs > 0 ? receivedAt + deadlineMs : Infinity;
  const maxWaitMs = controls.maxWaitMs ?? defaults.max_wait_ms;
  const turnBy = receivedAt + maxWaitMs;
  journal.note({ kind: 'class', priority, by, rule, loweredFrom, maxWaitMs, deadlineMs });
  return {
    priority,
    route,
    models: route.chain_by_priority[priority] ?? route.chain,
    turnBy: Math.min(turnBy, answerBy),
    ...(deadlineMs > 0 && { answerBy }),
    ...incoming,
  };
}

/** The class that a call would have, and what says so. */
interface Wanted {
  readonly priority: Priority;
  readonly by: PriorityControl | 'rule' | 'key';
  readonly rule: number | null;
}

function wantedFor(call: IncomingCall, route: string, rules: readonly ClassifyRule[]): Wanted {
  const { controls, caller } = call;
  if (controls.priority !== null)
    return { priority: controls.priority, by: controls.priorityBy ?? 'header', rule: null };
  const position = rules.findIndex(({ when }) => fits(when, call, route));
  const rule = rules[position];
  if (rule !== undefined) return { priority: rule.priority, by: 'rule', rule: position };
  return { priority: caller.priority, by: 'key', rule: null };
}

function fits(when: ClassifyRule['when'], { headers }: IncomingCall, route: string): boolean {
  if (when.route !== undefined && when.route !== route) return false;
  return Object.entries(when.header ?? {}).every(([name, wanted]) => {
    const value = headers[name.toLowerCase()];
    return value !== undefined && headerText(value) === wanted;
  });
}
