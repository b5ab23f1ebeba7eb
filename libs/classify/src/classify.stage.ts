import { Injectable } from '@nestjs/common';
import {
  Clock,
  DeadlineExceeded,
  ModelNotFound,
  lowerOf,
  type Answer,
  type Call,
  type IncomingCall,
  type Next,
  type Priority,
  type Stage,
} from '@spillway/contracts';
import { ConfigStore, type ClassifyRule, type Settings } from '@spillway/config';

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
    const { call, answerBy } = classify(incoming, settings);
    call.journal.route = call.route.name;
    call.journal.routeLabel = settings.isConfigured(call.route.name) ? call.route.name : 'other';
    call.journal.priority = call.priority;
    if (answerBy === null) return next(call);
    return this.withDeadline(call, answerBy, next);
  }

  /** The deadline holds until the answer's first content (streamed) or the whole answer is there. */
  private async withDeadline(call: Call, answerBy: number, next: Next<Call>): Promise<Answer> {
    // Not AbortSignal.any, which takes 21 µs where this takes 6 (Node 20).
    const limited = new AbortController();
    const leave = (): void => limited.abort(call.signal.reason);
    if (call.signal.aborted) leave();
    else call.signal.addEventListener('abort', leave, { once: true });
    const timer = setTimeout(
      () => limited.abort(new DeadlineExceeded('The deadline of the call has passed.')),
      Math.max(0, answerBy - this.clock.now()),
    );
    try {
      return await next(Object.assign({}, call, { signal: limited.signal }));
    } finally {
      clearTimeout(timer);
    }
  }
}

interface Classified {
  readonly call: Call;
  /** Milliseconds since the epoch; null: no deadline. */
  readonly answerBy: number | null;
}

/** @throws ModelNotFound when `model` names neither a route nor a model. */
export function classify(incoming: IncomingCall, settings: Settings): Classified {
  const { model: name } = incoming.body;
  const route = typeof name === 'string' ? settings.target(name) : undefined;
  if (route === undefined) {
    throw new ModelNotFound(`The model ${JSON.stringify(name)} is neither a route nor a model here.`, {
      param: 'model',
      retryable: false,
    });
  }
  const { caller, controls, receivedAt, journal } = incoming;
  const wanted = controls.priority ?? ruleFor(incoming, route.name, settings.classify) ?? caller.priority;
  const priority = lowerOf(wanted, caller.max_priority);
  if (priority !== wanted) journal.requestedPriority = wanted;
  const defaults = settings.priorities[priority];
  const deadlineMs = controls.deadlineMs ?? defaults.deadline_ms;
  const answerBy = deadlineMs > 0 ? receivedAt + deadlineMs : null;
  const turnBy = receivedAt + (controls.maxWaitMs ?? defaults.max_wait_ms);
  return {
    call: {
      priority,
      route,
      models: route.chain_by_priority[priority] ?? route.chain,
      turnBy: answerBy === null ? turnBy : Math.min(turnBy, answerBy),
      ...incoming,
    },
    answerBy,
  };
}

function ruleFor(call: IncomingCall, route: string, rules: readonly ClassifyRule[]): Priority | null {
  const rule = rules.find(
    ({ when }) =>
      (when.route === undefined || when.route === route) &&
      Object.entries(when.header ?? {}).every(([name, value]) => call.headers[name.toLowerCase()] === value),
  );
  return rule?.priority ?? null;
}
