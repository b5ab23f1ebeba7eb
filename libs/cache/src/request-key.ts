import { hash } from 'node:crypto';
import type { JsonObject } from '@spillway/contracts';
import { canonicalJson } from './canonical-json';

/** Raised whenever a key or an entry changes its meaning: what older versions stored is then not found. */
const VERSION = 1;

/** Fields of a request that do not shape its answer. All others do, known or not. */
const NOT_SHAPING = new Set(['model', 'user', 'service_tier', 'stream', 'stream_options', 'metadata']);

export interface RequestIdentity {
  /** Whose answers may be shared, and whence they come. */
  readonly namespace: string;
  readonly scope: string;
  /** Stands for the request's `model`, which may be spelled in several ways. */
  readonly route: string;
  /** Changes when answers of this route or scope are cleared. */
  readonly generation: string;
  /** The forwarded `openai-beta` header. */
  readonly beta: string | undefined;
  readonly body: JsonObject;
}

/** The same text for the same request, and for no other. */
export function requestKey({ namespace, scope, route, generation, beta, body }: RequestIdentity): string {
  const within = JSON.stringify([VERSION, namespace, scope, route, generation, beta ?? null]);
  return hash('sha256', within + canonicalRequest(body), 'base64url');
}

/** The same text for the same body, of which only what shapes the answer counts. */
export function canonicalRequest(body: JsonObject): string {
  return canonicalJson(body, NOT_SHAPING);
}
