import { Catch, HttpException, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  InvalidRequest,
  Journal,
  NotFound,
  RefusedByModel,
  RequestTooLarge,
  SpillwayError,
  UnexpectedError,
} from '@spillway/contracts';
import { CallReport } from './call-report';
import { requestIdOf } from './caller-connection';
import { isModelPath } from './doorkeeper';
import { errorHeaders } from './response-headers';

interface FrameworkError {
  readonly code?: string;
  readonly statusCode?: number;
}

/** Whatever was thrown, as a failure that a caller may see. */
export function asSpillwayError(thrown: unknown): SpillwayError {
  if (thrown instanceof SpillwayError) return thrown;
  const { code, statusCode } = (thrown ?? {}) as FrameworkError;
  if (thrown instanceof HttpException && thrown.getStatus() === 404) {
    return new NotFound('There is nothing at this address.', { retryable: false });
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new RequestTooLarge('The request is larger than this server takes.', { retryable: false });
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new InvalidRequest('Send the body as JSON, with content-type: application/json.');
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new InvalidRequest('The request could not be read.');
  }
  return new UnexpectedError('Something unexpected went wrong here.', { cause: thrown });
}

export function sendError(reply: FastifyReply, requestId: string, journal: Journal, error: SpillwayError): void {
  const headers = errorHeaders(requestId, journal, error);
  const refusal = error instanceof RefusedByModel ? error : null;
  const text = refusal?.text ?? JSON.stringify(error.body());
  void reply
    .code(error.status)
    .headers({ ...headers, 'content-type': refusal?.contentType ?? 'application/json; charset=utf-8' })
    .send(text);
}

/** Turns every failure outside a call's path into the body that OpenAI's clients know, counts it and logs it. */
@Catch()
@Injectable()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly report: CallReport) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.refuse(thrown, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const error = asSpillwayError(thrown);
    const requestId = requestIdOf(request);
    if (isModelPath(request.url)) this.report.refused(requestId, error);
    this.report.unexpected(requestId, error);
    sendError(reply, requestId, new Journal(), error);
  }
}
