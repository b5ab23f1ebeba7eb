import 'reflect-metadata';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Gatekeeper } from '@spillway/admission';
import type { ServerSettings } from '@spillway/config';
import { guardDoors } from './http/doorkeeper';
import { ErrorFilter } from './http/error-responses';

/** How long a client may take to send one request, so that slow ones hold no connection for ever. */
export interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often connections are looked at. */
  readonly checkEveryMs: number;
}

const PATIENCE: Patience = { headersMs: 20_000, requestMs: 60_000, checkEveryMs: 5_000 };
/** Longer than the idle time of common load balancers, so that they never meet a closing connection. */
const KEEP_ALIVE_MS = 75_000;
const CORS_VALID_S = 86_400;

/** An application behind our doors: who calls is checked before a body is read, and every error is one of ours. */
export async function createHttpServer(
  module: DynamicModule,
  server: ServerSettings,
  { headersMs, requestMs, checkEveryMs }: Patience = PATIENCE,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // The reception has let everyone finish by then: what is left are callers that neither send nor read.
    forceCloseConnections: true,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: checkEveryMs },
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
