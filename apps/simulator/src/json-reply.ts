import type { Headers } from './families';
import type { Reply } from './reply';
import type { Fault } from './settings';

const DRIP_EVERY_MS = 1000;
const HTML_PAGE = '<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>';
/** What a model says that fails in the middle of its answer. */
export const MODEL_FAILED =
  '{"error":{"message":"The model failed.","type":"server_error","param":null,"code":"server_error"}}';

export function sendJson(reply: Reply, status: number, headers: Headers, json: string): void {
  reply.head(status, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(json)),
    ...headers,
  });
  reply.end(json);
}

/** Sends an error in OpenAI's shape. */
export function sendError(
  reply: Reply,
  status: number,
  message: string,
  code: string | null = null,
  headers: Headers = {},
): void {
  sendJson(reply, status, headers, JSON.stringify({ error: { message, type: errorType(status), param: null, code } }));
}

function errorType(status: number): string {
  if (status >= 500) return 'server_error';
  return status === 429 ? 'rate_limit_error' : 'invalid_request_error';
}

/** Plays a fault that leaves no room for an answer; false: there is an answer to give. */
export function playInstead(reply: Reply, fault: Fault): boolean {
  switch (fault.kind) {
    case 'hang':
      return fault.after_chunks === undefined;
    case 'reset':
      if (fault.after_chunks === undefined) reply.reset();
      return fault.after_chunks === undefined;
    case 'refuse':
      reply.cutOff();
      return true;
    case 'html':
      reply.head(fault.status ?? 502, { 'content-type': 'text/html' });
      reply.end(HTML_PAGE);
      return true;
    default:
      return false;
  }
}

/** Sends a JSON answer that a fault may spoil on its way. */
export async function sendSpoiltJson(reply: Reply, headers: Headers, json: string, fault: Fault | null): Promise<void> {
  switch (fault?.kind) {
    case 'error-event':
      return sendJson(reply, 200, headers, MODEL_FAILED);
    case 'malformed':
      return sendJson(reply, 200, headers, `${json.slice(0, json.length / 2)}}`);
    case 'truncated':
    case 'reset':
    case 'hang':
      reply.head(200, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(json)) });
      await reply.write(json.slice(0, json.length / 2));
      return breakOff(reply, fault);
    case 'drip':
      reply.head(200, { 'content-type': 'application/json' });
      return drip(reply, fault, '\n');
    default:
      return sendJson(reply, 200, headers, json);
  }
}

/** Ends an answer in the middle. */
export async function breakOff(reply: Reply, fault: Fault): Promise<void> {
  if (fault.kind === 'hang') return;
  await reply.letWritesLeave();
  if (fault.kind === 'reset') reply.reset();
  else reply.cutOff();
}

/** Keeps the connection busy without an answer until the caller leaves. */
export async function drip(reply: Reply, fault: Fault, drop: string): Promise<void> {
  reply.flushHead();
  while (reply.open) {
    await reply.write(drop);
    await reply.pause(fault.every_ms ?? DRIP_EVERY_MS);
  }
}
