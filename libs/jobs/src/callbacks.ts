import { Injectable } from '@nestjs/common';
import { isIP } from 'node:net';
import { ConfigStore } from '@spillway/config';
import { Clock, InvalidRequest, UpstreamError, type JsonObject, type JsonValue } from '@spillway/contracts';
import { callbackTarget, hostOf, isListed } from './callback-target';
import { post, type CallbackReply } from './callback-request';
import type { Job, JobHandler, JobStatus, RetryRule, RunningJob } from './job';
import type { JobQueue } from './job-queue';
import { JobQueues } from './job-queues';
import { jobView } from './job-view';
import { checkedLookup, isPublicAddress } from './public-addresses';
import { sign } from './signature';

const CONCURRENCY = 20;
/** A receiver that is down for an hour still gets its results. */
const RETRY: RetryRule = { attempts: 9, baseMs: 2_000, factor: 4, capMs: 1_800_000 };
const TIMEOUT_MS = 15_000;
/** The receiver wants no more of these, as Standard Webhooks have it. */
const GONE = 410;

type Payload = {
  readonly url: string;
  readonly status: JobStatus;
  readonly endedAt: number;
  /** The job as its caller sees it. */
  readonly job: JsonObject;
};

/** Sends the results of jobs to those who asked for them: jobs themselves, with their own attempts. */
@Injectable()
export class Callbacks implements JobHandler<Payload> {
  readonly retry = RETRY;
  private readonly queue: JobQueue<Payload>;

  constructor(
    queues: JobQueues,
    private readonly config: ConfigStore,
    private readonly clock: Clock,
  ) {
    this.queue = queues.open('callback', this, () => CONCURRENCY);
  }

  /** @throws InvalidRequest where nothing may be sent to this address. */
  check(url: string): void {
    const { callback_hosts: hosts, callback_secret: secret } = this.config.current.async;
    if (secret === undefined) {
      throw new InvalidRequest('x-spillway-callback-url: no async.callback_secret is configured.', {
        param: 'x-spillway-callback-url',
      });
    }
    callbackTarget(url, hosts);
  }

  /** Has a result sent; asked again for the same end of a job, it is sent once. @throws PartLost */
  async send(url: string, job: Job): Promise<void> {
    const endedAt = job.endedAt ?? job.createdAt;
    const id = `${this.queue.kind}_${job.id}_${endedAt}`;
    const payload: Payload = { url, status: job.status, endedAt, job: jobView(job) };
    await this.queue.add({ id, owner: job.owner, priority: 'critical', payload });
  }

  async run({ id, payload, signal }: RunningJob<Payload>): Promise<JsonValue> {
    const { status, retryAfter } = await this.deliver(id, payload, signal);
    if (status >= 200 && status < 300) return status;
    const seconds = Number(retryAfter ?? NaN);
    throw new UpstreamError(`The receiver of the callback answered ${status}.`, {
      retryAfterMs: seconds > 0 ? Math.min(seconds * 1000, RETRY.capMs) : null,
      retryable: status !== GONE,
    });
  }

  private async deliver(
    id: string,
    { url, status, endedAt, job }: Payload,
    signal: AbortSignal,
  ): Promise<CallbackReply> {
    const { callback_hosts: hosts, callback_secret: secret = '' } = this.config.current.async;
    // Checked again: it may have been unlisted since.
    const target = callbackTarget(url, hosts);
    const isAllowed = (address: string): boolean => isPublicAddress(address) || isListed(address, hosts);
    const host = hostOf(target);
    if (isIP(host) !== 0 && !isAllowed(host)) throw new InvalidRequest('Results may not be sent to this address.');
    const message = { type: `job.${status}`, timestamp: new Date(endedAt).toISOString(), data: job };
    const body = JSON.stringify(message);
    try {
      return await post({
        url: target,
        headers: { ...sign(id, Math.floor(this.clock.now() / 1000), body, secret) },
        body,
        lookup: checkedLookup(isAllowed),
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
    } catch (error) {
      throw new UpstreamError('The receiver of the callback could not be reached.', { cause: error });
    }
  }
}
