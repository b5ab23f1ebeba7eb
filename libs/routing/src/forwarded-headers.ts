import type { IncomingCall } from '@spillway/contracts';

/** Headers that belong to one connection, to the caller's own transport or to its identity: they end here. */
const KEPT_BACK = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'api-key',
  'authorization',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'keep-alive',
  'openai-organization',
  'openai-project',
  'origin',
  'pragma',
  'prefer',
  'proxy-authorization',
  'proxy-connection',
  'range',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-api-key',
  'x-ark-max-wait-timeout-ms',
  'x-real-ip',
  'x-request-id',
]);
const KEPT_BACK_FAMILIES = /^(x-spillway-|x-stainless-|x-forwarded-|sec-|cf-|access-control-)/;

/** What goes to the model beside the body: headers that Spillway does not know, and the call's id for tracing. */
export function forwardedHeaders(call: IncomingCall): Record<string, string> {
  const forwarded: Record<string, string> = { 'x-request-id': call.id };
  for (const [name, value] of Object.entries(call.headers)) {
    if (value !== undefined && !KEPT_BACK.has(name) && !KEPT_BACK_FAMILIES.test(name)) forwarded[name] = value;
  }
  return forwarded;
}
