import 'reflect-metadata';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Gatekeeper } from '@spillway/admission';
import type { ServerSettings } from '@spillway/config';
import { JobQueues } from '@spillway/jobs';
import { refuseAddress, refuseConnection } from './http/broken-requests';
import { requestIdOf } from './http/caller-connection';
import { guardDoors } from './http/doorkeeper';
import { ErrorFilter } from './http/error-responses';
import { Reception } from './http/reception';
import { afterBody } from './http/unread-body';

/** How long a client may take to send one request, so that slow ones hold no connection for ever. */
export interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often connections are looked at. */
  readonly checkEveryMs: number;
}

/** Sees every request before the application does, and lets it walk through that unless it answers by itself. */
interface Front {
  serve(request: IncomingMessage, response: ServerResponse, walk: () => void): void;
}

const PATIENCE: Patience = { headersMs: 20_000, requestMs: 60_000, checkEveryMs: 5_000 };
/** Longer than the idle time of common load balancers, so that they never meet a closing connection. */
const KEEP_ALIVE_MS = 75_000;
/** What Node takes as the head of a request, bytes. */
const LONGEST_ADDRESS = 16_384;
const CORS_VALID_S = 86_400;
/** Of what browsers may be for: calls, and jobs that are looked at and cancelled. */
const CORS_METHODS = ['GET', 'HEAD', 'POST', 'DELETE'];

interface HttpServerOptions {
  readonly patience?: Patience | undefined;
  /** A provider of the module; default: every request walks. */
  readonly front?: Type<Front> | undefined;
}

/** An application behind our doors: who calls is checked before a body is read, and every error is one of ours. */
export async function createHttpServer(
  module: DynamicModule,
  server: ServerSettings,
  { patience = PATIENCE, front }: HttpServerOptions = {},
): Promise<NestFastifyApplication> {
  let serve: Front['serve'] = (_request, _response, walk) => walk();
  const adapter = new FastifyAdapter({
    // The reception has let everyone finish by then: what is left are callers that neither send nor read.
    forceCloseConnections: true,
    // Names and ids in addresses are as long as they may be elsewhere; what bounds them is the size of a head.
    routerOptions: { maxParamLength: LONGEST_ADDRESS, ignoreTrailingSlash: true },
    frameworkErrors: refuseAddress,
    clientErrorHandler: refuseConnection,
    serverFactory: (walk: RequestListener) =>
      createServer(serverOptions(patience), (request, response) =>
        serve(request, response, () => walk(request, response)),
      ),
  });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    // What ends a start is thrown, and printed once.
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  const errors = app.get(ErrorFilter);
  const fastify = app.getHttpAdapter().getInstance();
  // Whoever handles a POST reads its body, see readJson; bodies of other methods say nothing, whatever their type.
  for (const method of fastify.supportedMethods) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  guardDoors(fastify, app.get(Gatekeeper));
  // Answers to calls do not pass here: they are written to the socket, with their id.
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    if (!reply.hasHeader('x-request-id')) void reply.header('x-request-id', requestIdOf(request.headers));
    afterBody(request.raw, done);
  });
  app.useGlobalFilters(errors);
  if (server.cors !== false) {
    app.enableCors({ origin: server.cors, methods: CORS_METHODS, maxAge: CORS_VALID_S, exposedHeaders: '*' });
  }
  await app.init();
  if (front !== undefined) {
    const first = app.get(front);
    serve = (...exchange) => first.serve(...exchange);
  }
  return app;
}

/** Takes in nobody from now on, lets calls and jobs under way finish within `drainMs`, then ends everything. */
export async function stopInOrder(app: NestFastifyApplication, drainMs: number): Promise<void> {
  await Promise.all([app.get(Reception).close(drainMs), app.get(JobQueues).stop(drainMs)]);
  await app.close();
}

function serverOptions({ headersMs, requestMs, checkEveryMs }: Patience): ServerOptions {
  return {
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: headersMs,
    connectionsCheckingInterval: checkEveryMs,
  };
}
