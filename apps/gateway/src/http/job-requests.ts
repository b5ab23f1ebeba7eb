import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseControls } from '@spillway/classify';
import { ConfigStore } from '@spillway/config';
import {
  InvalidRequest,
  ModelNotFound,
  NotAllowed,
  NotFound,
  lowerOf,
  type Caller,
  type JsonObject,
  type Priority,
} from '@spillway/contracts';
import { CallJobs, jobView, type Job } from '@spillway/jobs';
import { plainHeaders, requestIdOf, traceIdOf } from './caller-connection';
import { callerOf } from './doorkeeper';
import { readJson } from './read-json';
import { Reception } from './reception';
import { checkBody } from './request-body';

/** Who the caller is stays out of what is kept, and so does what belongs to its connection. */
const NOT_KEPT = /^(authorization|proxy-|cookie|api-key|x-api-key|host|connection|content-|transfer-|prefer$)/;
const CALLBACK = 'x-spillway-callback-url';

/** Whether a request asks to be answered later (RFC 7240). */
export function prefersAsync({ headers: { prefer } }: FastifyRequest): boolean {
  const preferences = (Array.isArray(prefer) ? prefer.join(',') : (prefer ?? '')).split(',');
  return preferences.some(preference => /^\s*respond-async\s*(;|$)/i.test(preference));
}

/** What a caller may ask of jobs: to begin one, to look at one, to end one. */
@Injectable()
export class JobRequests {
  constructor(
    private readonly jobs: CallJobs,
    private readonly config: ConfigStore,
    private readonly reception: Reception,
  ) {}

  /** Takes a chat call as a job. What can be refused is refused now; class `low` unless the request says another. */
  async submit(request: FastifyRequest, reply: FastifyReply, path: Priority | null): Promise<void> {
    const body = checkBody(await readJson(request, this.config.current.server.body_limit), 'chat');
    const caller = callerOf(request);
    const headers = plainHeaders(request);
    this.checkTarget(body, caller);
    const priority = lowerOf(parseControls(path, headers, body).priority ?? 'low', caller.max_priority);
    const requestId = requestIdOf(request.headers);
    const guest = this.reception.enter();
    try {
      const job = await this.jobs.submit({
        body,
        caller,
        priority,
        requestId,
        traceId: traceIdOf(request.headers),
        headers: keptHeaders(headers),
        callbackUrl: headers[CALLBACK] ?? null,
      });
      const answer = { location: `/v1/jobs/${job.id}`, 'preference-applied': 'respond-async' };
      const ours = { 'x-request-id': requestId, 'x-spillway-priority': priority };
      await reply
        .code(202)
        .headers({ ...ours, ...answer })
        .send({ id: job.id, status: job.status });
    } finally {
      this.reception.leave(guest);
    }
  }

  async find(request: FastifyRequest, id: string): Promise<JsonObject> {
    return seen(await this.jobs.find(id, callerOf(request)));
  }

  async cancel(request: FastifyRequest, id: string): Promise<JsonObject> {
    return seen(await this.jobs.cancel(id, callerOf(request)));
  }

  /** The path checks all this again when the job runs. */
  private checkTarget({ model, stream }: JsonObject, { routes }: Caller): void {
    if (stream === true) {
      throw new InvalidRequest('A call that is answered later cannot be streamed.', { param: 'stream' });
    }
    const route = typeof model === 'string' ? this.config.current.target(model) : undefined;
    if (route === undefined) {
      throw new ModelNotFound('The model is neither a route nor a model here.', { param: 'model', retryable: false });
    }
    if (routes !== null && !routes.includes(route.name)) {
      throw new NotAllowed('This API key may not use this model.', { param: 'model', retryable: false });
    }
  }
}

function seen(job: Job | null): JsonObject {
  if (job === null) throw new NotFound('There is no such job of this caller.', { retryable: false });
  return jobView(job);
}

function keptHeaders(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !NOT_KEPT.test(name));
  return Object.fromEntries(kept) as Record<string, string>;
}
