import { Catch, HttpException, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  InvalidRequest,
  Journal,
  MethodNotAllowed,
  NotFound,
  RefusedByModel,
  RequestTooLarge,
  SpillwayError,
  UnexpectedError,
} from '@spillway/contracts';
import { CallReport } from '@spillway/pipeline';
import { requestIdOf } from './caller-connection';
import { doorOf } from './doorkeeper';
import { errorHeaders } from './response-headers';

/** Whatever was thrown, as a failure that a caller may see. */
export function asSpillwayError(thrown: unknown): SpillwayError {
  if (thrown instanceof SpillwayError) return thrown;
  const status = statusOf(thrown);
  switch (status) {
    case 404:
      return new NotFound('There is nothing at this address; a base URL ends in /v1.', { retryable: false });
    case 413:
      return new RequestTooLarge('The request is larger than this server takes.', { retryable: false });
    case 415:
      return new InvalidRequest('Send the body as JSON, with content-type: application/json.');
    default:
      return status !== null && status >= 400 && status < 500
        ? new InvalidRequest('The request could not be read.')
        : new UnexpectedError('Something unexpected went wrong here.', { cause: thrown });
  }
}

/** Errors of Fastify come as they are, or as an HttpException that kept only their status. */
function statusOf(thrown: unknown): number | null {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const { statusCode } = (thrown ?? {}) as { readonly statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : null;
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
    const methods = request.is404 ? methodsAt(request) : [];
    if (methods.length > 0) void reply.header('allow', methods.join(', '));
    const error = methods.length > 0 ? notThisMethod(request.method) : asSpillwayError(thrown);
    const requestId = requestIdOf(request.headers);
    if (doorOf(request) === 'caller') this.report.refused(requestId, error);
    this.report.unexpected(requestId, error);
    sendError(reply, requestId, new Journal(), error);
  }
}

/** What may be done at an address; OPTIONS, which browsers may send to every address or to none, says nothing of it. */
function methodsAt({ server, url }: FastifyRequest): string[] {
  return server.supportedMethods.filter(method => method !== 'OPTIONS' && server.findRoute({ method, url }) !== null);
}

function notThisMethod(method: string): MethodNotAllowed {
  return new MethodNotAllowed(`${method} is nothing that can be done at this address.`, { retryable: false });
}
