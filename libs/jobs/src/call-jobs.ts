import { Injectable } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import {
  Errands,
  NoModelAvailable,
  NotAllowed,
  QueueFull,
  type Caller,
  type JsonObject,
  type JsonValue,
  type Priority,
} from '@spillway/contracts';
import { DEFAULT_RETRY } from './after-failure';
import { Callbacks } from './callbacks';
import type { Job, JobHandler, RunningJob } from './job';
import type { JobQueue } from './job-queue';
import { JobQueues } from './job-queues';

/** A chat call whose caller does not wait for it. */
export interface AsyncCall {
  readonly body: JsonObject;
  readonly caller: Caller;
  readonly priority: Priority;
  /** Request controls and what goes to the model; no credentials, they would lie in Redis. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly traceId: string;
  /** Where the result is sent; null: nowhere. */
  readonly callbackUrl: string | null;
}

type Payload = Omit<AsyncCall, 'caller'>;

/**
 * A job has no client whose patience could end. The first of these is the longest wait for a turn that a call may ask
 * for, ms; 0 means no deadline.
 */
const PATIENCE = { 'x-spillway-max-wait-ms': '600000', 'x-spillway-deadline-ms': '0' };

/** Calls that run as jobs: kept, tried again, and their answer kept for whoever asked. */
@Injectable()
export class CallJobs implements JobHandler<Payload> {
  readonly retry = DEFAULT_RETRY;
  private readonly queue: JobQueue<Payload>;

  constructor(
    queues: JobQueues,
    private readonly errands: Errands,
    private readonly callbacks: Callbacks,
    private readonly config: ConfigStore,
  ) {
    this.queue = queues.open('call', this, () => config.current.async.concurrency);
  }

  /** @throws InvalidRequest where the result may not be sent to its callback. */
  check({ callbackUrl }: Pick<AsyncCall, 'callbackUrl'>): void {
    if (callbackUrl !== null) this.callbacks.check(callbackUrl);
  }

  /** @throws QueueFull, PartLost, or InvalidRequest where the result may not be sent to its callback. */
  async submit({ caller, ...call }: AsyncCall): Promise<Job> {
    this.check(call);
    const { queued } = await this.queue.counts();
    if (queued >= this.config.current.async.queue_limit) {
      throw new QueueFull('Too many jobs wait already.', { retryAfterMs: 10_000 });
    }
    return this.queue.add({ owner: caller.name, priority: call.priority, payload: call });
  }

  /** Null: there is none of this caller. @throws PartLost */
  async find(id: string, caller: Caller): Promise<Job | null> {
    const job = await this.queue.find(id);
    return job?.owner === caller.name ? job : null;
  }

  /** Cancels a job that has not ended; null: there is none of this caller. @throws PartLost */
  async cancel(id: string, caller: Caller): Promise<Job | null> {
    return (await this.find(id, caller)) === null ? null : this.queue.cancel(id);
  }

  async run({ owner, payload, signal, isLastAttempt }: RunningJob<Payload>): Promise<JsonValue> {
    const { body, priority, headers, requestId, traceId } = payload;
    const { body: response, journal } = await this.errands.run({
      body,
      caller: this.callerNamed(owner),
      priority,
      headers: { ...headers, ...PATIENCE },
      id: requestId,
      traceId,
      signal,
    });
    // What stands in for an answer is for those who cannot wait.
    const isStandIn = journal.degraded === 'fallback-response' || journal.degraded === 'stale';
    if (isStandIn && !isLastAttempt) throw new NoModelAvailable('No model could answer.');
    return response;
  }

  async ended(job: Job, { callbackUrl }: Payload): Promise<void> {
    if (callbackUrl !== null) await this.callbacks.send(callbackUrl, job);
  }

  /** With the rights of today; a key that is gone has none. */
  private callerNamed(name: string): Caller {
    const { keys } = this.config.current;
    if (keys.length === 0) return { name, priority: 'normal', max_priority: 'critical', routes: null, team: null };
    const key = keys.find(candidate => candidate.name === name);
    if (key === undefined) throw new NotAllowed('The API key of this job is gone.', { retryable: false });
    const { priority, max_priority, routes, team = null } = key;
    return { name, priority, max_priority, routes, team };
  }
}
