import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  Clock,
  Journal,
  UpstreamError,
  assembleCompletion,
  type Answer,
  type AnswerPart,
  type IncomingCall,
  type JsonObject,
  type Operation,
  type Priority,
} from '@spillway/contracts';
import { ConfigStore } from '@spillway/config';
import { parseControls } from '@spillway/classify';
import { Pipeline } from '@spillway/pipeline';
import { ResponseDigest } from '@spillway/telemetry';
import { abortWhenGone, plainHeaders, requestIdOf, traceIdOf } from './caller-connection';
import { callerOf } from './doorkeeper';
import { EVENT_STREAM_HEADERS, EventStream, chunksOf } from './event-stream';
import { Reception } from './reception';
import { CallReport } from './call-report';
import { readJson } from './read-json';
import { checkBody } from './request-body';
import { answerHeaders } from './response-headers';
import { contentOf } from './answer-text';
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
  ): Promise<void> {
    const body = checkBody(await readJson(request, this.config.current.server.body_limit), operation);
    const receivedAt = this.clock.now();
    const guest = this.reception.enter();
    try {
      abortWhenGone(reply, guest);
      const call = incoming(request, path, { operation, body, receivedAt, signal: guest.signal });
      await this.answer(call, reply);
    } finally {
      this.reception.leave(guest);
    }
  }

  private async answer(call: IncomingCall, reply: FastifyReply): Promise<void> {
    const digest = new ResponseDigest();
    try {
      const answer = await this.pipeline.run(call);
      call.journal.outcome = answer.outcome;
      if (call.streaming) await this.sendStream(call, answer, reply, digest);
      else await sendWhole(call, answer, reply, digest);
      this.report.ended(call, answer.outcome, 200, digest);
    } catch (caught) {
      const error = call.signal.aborted ? asSpillwayError(call.signal.reason) : asSpillwayError(caught);
      const status = reply.raw.headersSent ? reply.raw.statusCode : error.status;
      this.report.ended(call, error.outcome, status, digest);
      this.report.unexpected(call.id, error);
      if (!reply.raw.headersSent) sendError(reply, call.id, call.journal, error);
    }
  }

  private async sendStream(
    call: IncomingCall,
    answer: Answer,
    reply: FastifyReply,
    digest: ResponseDigest,
  ): Promise<void> {
    const headers = { ...answerHeaders(call.id, call.journal, answer.outcome), ...EVENT_STREAM_HEADERS };
    beginAnswer(reply, headers);
    const stream = new EventStream(reply.raw, this.config.current.server.heartbeat_ms);
    try {
      for await (const part of chunksOf(answer.parts, wantsUsage(call.body))) {
        digest.add(contentOf(part.body));
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
}

type Received = Pick<IncomingCall, 'operation' | 'body' | 'receivedAt' | 'signal'>;

function incoming(request: FastifyRequest, path: Priority | null, received: Received): IncomingCall {
  const { operation, body } = received;
  const headers = plainHeaders(request);
  return {
    ...received,
    id: requestIdOf(request),
    traceId: traceIdOf(request),
    streaming: operation === 'chat' && body['stream'] === true,
    headers,
    caller: callerOf(request),
    controls: parseControls(path, headers, body),
    journal: new Journal(),
  };
}

function beginAnswer(reply: FastifyReply, headers: Record<string, string>): void {
  reply.hijack();
  reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...headers });
}

async function sendWhole(
  call: IncomingCall,
  answer: Answer,
  reply: FastifyReply,
  digest: ResponseDigest,
): Promise<void> {
  const { json, body } = await wholeOf(answer.parts);
  digest.add(contentOf(body));
  beginAnswer(reply, {
    ...answerHeaders(call.id, call.journal, answer.outcome),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(json)),
  });
  reply.raw.end(json);
}

/** The parts of an answer as one JSON body. */
async function wholeOf(parts: AsyncIterable<AnswerPart>): Promise<{ json: string; body: JsonObject }> {
  const chunks: JsonObject[] = [];
  for await (const part of parts) {
    if (part.kind === 'whole') return part;
    chunks.push(part.body);
  }
  if (chunks.length === 0) throw new UpstreamError('The model answered nothing.');
  const { body } = assembleCompletion(chunks);
  return { json: JSON.stringify(body), body };
}

function wantsUsage(body: JsonObject): boolean {
  const options = body['stream_options'];
  return typeof options === 'object' && options !== null && (options as JsonObject)['include_usage'] === true;
}
