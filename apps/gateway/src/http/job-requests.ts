import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { asyncPreference, parseControls } from '@spillway/classify';
import { ConfigStore } from '@spillway/config';
import {
  InvalidRequest,
  ModelNotFound,
  NotAllowed,
  NotFound,
  SpillwayError,
  lowerOf,
  type Caller,
  type IncomingCall,
  type JsonObject,
  type Priority,
} from '@spillway/contracts';
import { CallJobs, jobView, type AsyncCall, type Job } from '@spillway/jobs';
import { plainHeaders, requestIdOf, traceIdOf } from './caller-connection';
import { callerOf } from './doorkeeper';
import { readJson } from './read-json';
import { Reception } from './reception';
import { checkBody } from './request-body';

/** Who the caller is stays out of what is kept, and so does what belongs to its connection. */
const NOT_KEPT = /^(authorization|proxy-|cookie|api-key|x-api-key|host|connection|content-|transfer-|prefer$)/;
const CALLBACK = 'x-spillway-callback-url';

type Tried = Pick<IncomingCall, 'id' | 'traceId' | 'body'>;

/** A call that is to become a job where it is not answered while its caller waits. */
export interface Deferral {
  /** What makes a job of it; false: none could be made. */
  readonly defer: () => Promise<boolean>;
  /** Tells the caller of the job; false: there is none. */
  readonly tell: (reply: FastifyReply) => boolean;
}

/** Whether a request asks to be answered later, and how long it waits before. */
export function preferenceOf({ headers: { prefer } }: FastifyRequest): ReturnType<typeof asyncPreference> {
  return asyncPreference(Array.isArray(prefer) ? prefer.join(',') : prefer);
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
    const { headers } = request;
    const call = this.asyncCall(request, { body, id: requestIdOf(headers), traceId: traceIdOf(headers) }, path);
    const guest = this.reception.enter();
    try {
      tell(reply, call, await this.jobs.submit(call));
    } finally {
      this.reception.leave(guest);
    }
  }

  /** The same for a call that is tried first. What can be refused is refused before that. */
  deferral(request: FastifyRequest, tried: Tried, path: Priority | null): Deferral {
    const call = this.asyncCall(request, tried, path);
    this.jobs.check(call);
    let job: Job | null = null;
    return {
      defer: async () => {
        try {
          job = await this.jobs.submit(call);
          return true;
        } catch (error) {
          if (error instanceof SpillwayError) return false;
          throw error;
        }
      },
      tell: reply => {
        if (job === null) return false;
        tell(reply, call, job);
        return true;
      },
    };
  }

  private asyncCall(request: FastifyRequest, { body, id, traceId }: Tried, path: Priority | null): AsyncCall {
    const caller = callerOf(request);
    const headers = plainHeaders(request);
    this.checkTarget(body, caller);
    return {
      body,
      caller,
      priority: lowerOf(parseControls(path, headers, body).priority ?? 'low', caller.max_priority),
      requestId: id,
      traceId,
      headers: keptHeaders(headers),
      callbackUrl: headers[CALLBACK] ?? null,
    };
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

function tell(reply: FastifyReply, { requestId, priority }: AsyncCall, { id, status }: Job): void {
  const answer = { location: `/v1/jobs/${id}`, 'preference-applied': 'respond-async' };
  const ours = { 'x-request-id': requestId, 'x-spillway-priority': priority };
  void reply
    .code(202)
    .headers({ ...ours, ...answer })
    .send({ id, status });
}

function seen(job: Job | null): JsonObject {
  if (job === null) throw new NotFound('There is no such job of this caller.', { retryable: false });
  return jobView(job);
}

function keptHeaders(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !NOT_KEPT.test(name));
  return Object.fromEntries(kept) as Record<string, string>;
}
