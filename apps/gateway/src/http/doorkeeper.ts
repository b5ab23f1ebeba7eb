import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InvalidApiKey, type Caller } from '@spillway/contracts';
import type { Gatekeeper } from '@spillway/admission';

const callers = new WeakMap<FastifyRequest, Caller>();

const MODEL_PATH = /^\/(?:(?:critical|normal|low)\/)?v1\//;
const OPERATOR_PATH = /^\/(?:admin|metrics|ui)(?:[/?]|$)/;

/** Whether an address belongs to the API that callers use. */
export function isModelPath(url: string): boolean {
  return MODEL_PATH.test(url);
}

/** Checks who is calling before a body is read. */
export function guardDoors(server: FastifyInstance, gatekeeper: Gatekeeper): void {
  server.addHook('onRequest', async request => {
    if (request.method === 'OPTIONS') return;
    const credentials = {
      authorization: request.headers.authorization,
      remoteAddress: request.socket.remoteAddress,
    };
    if (isModelPath(request.url)) callers.set(request, gatekeeper.identify(credentials));
    else if (OPERATOR_PATH.test(request.url)) gatekeeper.requireAdmin(credentials);
  });
}

/** The caller that was identified for this request. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request);
  if (caller === undefined) throw new InvalidApiKey('A known API key is required.', { retryable: false });
  return caller;
}
