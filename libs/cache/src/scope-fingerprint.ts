import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '@spillway/contracts';
import { canonicalRequest } from './request-key';

/** Raised whenever a fingerprint or a partition changes its meaning: what older versions stored is then not found. */
const VERSION = 1;

/** A request as similarity sees it: what is asked, and everything else. */
export interface AskedText {
  /** The text of the last message, as it was sent. */
  readonly text: string;
  /** Equal for requests that differ in nothing but `text`. */
  readonly fingerprint: string;
}

/**
 * What a request asks and the fingerprint of all the rest: system prompt, history, tools, response format, sampling.
 * Null where the last message is not a user's, or holds anything but text.
 */
export function askedText(body: JsonObject, beta: string | undefined): AskedText | null {
  const messages = body['messages'];
  if (!Array.isArray(messages)) return null;
  const last: JsonValue | undefined = messages.at(-1);
  if (!isJsonObject(last) || last['role'] !== 'user') return null;
  const content = split(last['content']);
  if (content === null) return null;
  const rest = { ...body, messages: [...messages.slice(0, -1), { ...last, content: content.blanked }] };
  const fingerprint = hash('sha256', JSON.stringify([VERSION, beta ?? null]) + canonicalRequest(rest), 'base64url');
  return { text: content.text, fingerprint };
}

interface SplitContent {
  readonly text: string;
  readonly blanked: JsonValue;
}

function split(content: JsonValue | undefined): SplitContent | null {
  if (typeof content === 'string') return { text: content, blanked: '' };
  if (!Array.isArray(content) || content.length === 0) return null;
  const texts: string[] = [];
  const blanked: JsonValue[] = [];
  for (const part of content as readonly JsonValue[]) {
    if (!isJsonObject(part) || part['type'] !== 'text' || typeof part['text'] !== 'string') return null;
    texts.push(part['text']);
    blanked.push({ ...part, text: '' });
  }
  return { text: texts.join('\n'), blanked };
}

/** Whose questions may be compared at all. */
export interface PartitionIdentity {
  /** Whose answers may be shared. */
  readonly namespace: string;
  readonly scope: string;
  readonly route: string;
  /** Vectors of different embedders mean different things. */
  readonly embedder: string;
  readonly dimension: number;
  /** Changes when answers of this route or scope are cleared. */
  readonly generation: string;
}

/** The same text for the same identity, and for no other. */
export function partitionOf(identity: PartitionIdentity): string {
  const { namespace, scope, route, embedder, dimension, generation } = identity;
  return hash(
    'sha256',
    JSON.stringify([VERSION, namespace, scope, route, embedder, dimension, generation]),
    'base64url',
  );
}
