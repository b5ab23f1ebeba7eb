import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  Clock,
  Journal,
  wholeOf,
  type Answer,
  type IncomingCall,
  type JsonObject,
  type Operation,
  type Priority,
} from '@spillway/contracts';
import { ConfigStore } from '@spillway/config';
import { parseControls } from '@spillway/classify';
import { CallReport, Pipeline } from '@spillway/pipeline';
import { ResponseDigest } from '@spillway/telemetry';
import { watchCaller, plainHeaders, requestIdOf, traceIdOf } from './caller-connection';
import { callerOf } from './doorkeeper';
import { EVENT_STREAM_HEADERS, EventStream, chunksOf } from './event-stream';
import type { Deferral } from './job-requests';
import { Reception } from './reception';
import { readJson } from './read-json';
import { receiptOf } from './repeat-lane';
import { checkBody } from './request-body';
import { answerHeaders, endWith, wholeHeaders, type Headers } from './response-headers';
import { asSpillwayError, sendError } from './error-responses';

/** One HTTP call from its receipt to its last byte: what comes in goes down the path, what comes back goes out. */
@Injectable()
export class CallHandler {
  constructor(
    private readonly pipeline: Pipeline,
    private readonly config: ConfigStore,
    private readonly reception: Reception,
    private readonly report: CallReport,
    private readonly clock: Clock,
  ) {}

  async handle(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: Operation,
    path: Priority | null,
    later?: (call: IncomingCall) => Deferral,
  ): Promise<void> {
    const body = checkBody(await readJson(request, this.config.current.server.body_limit), operation);
    const receivedAt = this.clock.now();
    const guest = this.reception.enter();
    const over = watchCaller(reply, guest);
    try {
      const call = incoming(request, path, { operation, body, receivedAt, signal: guest.signal });
      const deferral = later?.(call);
      await this.answer(deferral === undefined ? call : { defer: deferral.defer, ...call }, reply, deferral);
    } finally {
      // A large answer may still be on its way to a slow caller.
      void over.then(() => this.reception.leave(guest));
    }
  }

  private async answer(call: IncomingCall, reply: FastifyReply, deferral?: Deferral): Promise<void> {
    const digest = new ResponseDigest();
    this.report.began(call);
    try {
      const answer = await this.pipeline.run(call);
      call.journal.outcome = answer.outcome;
      // As long as the head of this very answer is not among them.
      const others = headersOf(reply);
      if (call.streaming) await this.sendStream(call, answer, reply, digest);
      else await this.sendWhole(call, answer, reply, digest);
      const ending = this.report.answered(call, answer.outcome, digest);
      receiptOf(reply.request.raw)?.learn(call, answer, ending, others);
    } catch (caught) {
      const error = call.signal.aborted ? asSpillwayError(call.signal.reason) : asSpillwayError(caught);
      const isLater = deferral?.tell(reply) === true;
      const status = isLater ? 202 : reply.raw.headersSent ? reply.raw.statusCode : error.status;
      this.report.failed(call, error, status, digest);
      this.report.unexpected(call.id, error);
      if (!isLater && !reply.raw.headersSent) sendError(reply, call.id, call.journal, error);
    }
  }

  private async sendWhole(
    call: IncomingCall,
    answer: Answer,
    reply: FastifyReply,
    digest: ResponseDigest,
  ): Promise<void> {
    const part = await wholeOf(answer.parts);
    if (call.journal.digest === null) digest.add(part.body);
    this.begin(reply, call, answer, wholeHeaders(part));
    endWith(part, reply.raw);
  }

  private async sendStream(
    call: IncomingCall,
    answer: Answer,
    reply: FastifyReply,
    digest: ResponseDigest,
  ): Promise<void> {
    this.begin(reply, call, answer, EVENT_STREAM_HEADERS);
    const stream = new EventStream(reply.raw, this.config.current.server.heartbeat_ms);
    try {
      for await (const part of chunksOf(answer.parts, wantsUsage(call.body))) {
        digest.add(part.body);
        await stream.send(part.json);
      }
      await stream.send('[DONE]');
    } catch (error) {
      await stream.send(JSON.stringify(asSpillwayError(error).body()));
      throw error;
    } finally {
      stream.end();
    }
  }

  private begin(reply: FastifyReply, { id, journal }: IncomingCall, { outcome }: Answer, headers: Headers): void {
    reply.hijack();
    const ours = answerHeaders(id, journal, outcome, this.clock.now());
    reply.raw.writeHead(200, Object.assign(headersOf(reply), ours, headers));
  }
}

type Received = Pick<IncomingCall, 'operation' | 'body' | 'receivedAt' | 'signal'>;

function incoming(request: FastifyRequest, path: Priority | null, received: Received): IncomingCall {
  const { operation, body } = received;
  const headers = plainHeaders(request);
  return {
    id: requestIdOf(request.headers),
    traceId: traceIdOf(request.headers),
    streaming: operation === 'chat' && body['stream'] === true,
    headers,
    caller: callerOf(request),
    // Embeddings are never jobs, so that no preference for one shortens their time.
    controls: parseControls(path, operation === 'chat' ? headers : { ...headers, prefer: undefined }, body),
    journal: new Journal(),
    ...received,
  };
}

/** What hooks of the server have set; a new object each time. */
function headersOf(reply: FastifyReply): Headers {
  return reply.getHeaders() as Headers;
}

function wantsUsage(body: JsonObject): boolean {
  const options = body['stream_options'];
  return typeof options === 'object' && options !== null && (options as JsonObject)['include_usage'] === true;
}
