import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InvalidApiKey, type Caller } from '@spillway/contracts';
import type { Credentials, Gatekeeper } from '@spillway/admission';

/** `page`: of the console, which holds no data. */
type Door = 'caller' | 'operator' | 'page' | 'open';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the doorkeeper has identified it. */
    caller: Caller | null;
  }
}

const FOR_CALLERS = /^\/(?:(?:critical|normal|low)\/)?v1\//;
const PAGES = new Set(['/', '/ui', '/ui/:file']);
const FOR_EVERYBODY = new Set(['/livez', '/readyz', '/health']);

/**
 * Who may use the route that the router has chosen. The address as it was sent says nothing: it can be written in many
 * ways. A route that is not known here is for operators; where there is no route there is nothing to guard.
 */
export function doorOf(request: FastifyRequest): Door {
  const { url } = request.routeOptions;
  if (url === undefined || FOR_EVERYBODY.has(url)) return 'open';
  if (FOR_CALLERS.test(url)) return 'caller';
  return PAGES.has(url) || wantsPage(request) ? 'page' : 'operator';
}

/** Whether a browser asks for the page about what this address tells programs. */
export function wantsPage({ method, headers, routeOptions: { url } }: FastifyRequest): boolean {
  return method === 'GET' && url === '/admin/queues' && /\btext\/html\b/.test(headers.accept ?? '');
}

/** Checks who is calling before a body is read. */
export function guardDoors(server: FastifyInstance, gatekeeper: Gatekeeper): void {
  server.decorateRequest('caller', null);
  server.addHook('onRequest', (request, _reply, done) => {
    check(request, gatekeeper);
    done();
  });
}

function check(request: FastifyRequest, gatekeeper: Gatekeeper): void {
  const door = request.method === 'OPTIONS' ? 'open' : doorOf(request);
  if (door === 'open') return;
  const credentials = credentialsOf(request);
  if (door === 'caller') request.caller = gatekeeper.identify(credentials);
  else if (door === 'page') gatekeeper.requireMayAskKey(credentials);
  else gatekeeper.requireAdmin(credentials);
}

export function credentialsOf({ headers, socket }: FastifyRequest): Credentials {
  const { authorization, origin, host } = headers;
  return { authorization, remoteAddress: socket.remoteAddress, page: { origin, host } };
}

/** The caller that was identified for this request. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new InvalidApiKey('A known API key is required.', { retryable: false });
  return caller;
}
