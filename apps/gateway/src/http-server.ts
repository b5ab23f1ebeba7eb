import 'reflect-metadata';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Gatekeeper } from '@spillway/admission';
import type { ServerSettings } from '@spillway/config';
import { guardDoors } from './http/doorkeeper';
import { ErrorFilter } from './http/error-responses';

/** How long a client may take to send one request, so that slow ones hold no connection for ever. */
const REQUEST_WITHIN_MS = 60_000;
const HEADERS_WITHIN_MS = 20_000;
/** Longer than the idle time of common load balancers, so that they never meet a closing connection. */
const KEEP_ALIVE_MS = 75_000;
const CORS_VALID_S = 86_400;

/** An application behind our doors: who calls is checked before a body is read, and every error is one of ours. */
export async function createHttpServer(module: DynamicModule, server: ServerSettings): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    requestTimeout: REQUEST_WITHIN_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    http: { headersTimeout: HEADERS_WITHIN_MS, connectionsCheckingInterval: 5_000 },
  });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: ['error', 'warn'],
    bodyParser: false,
    abortOnError: false,
  });
  const errors = app.get(ErrorFilter);
  const fastify = app.getHttpAdapter().getInstance();
  // Whoever handles a POST reads its body, see readJson.
  fastify.addHttpMethod('POST', { hasBody: false, overrideExisting: true });
  guardDoors(fastify, app.get(Gatekeeper));
  app.useGlobalFilters(errors);
  if (server.cors !== false) app.enableCors({ origin: server.cors, maxAge: CORS_VALID_S, exposedHeaders: '*' });
  await app.init();
  return app;
}
