import type { LimitUse } from './limits';
import { REFUSALS_BY_FAMILY, type Wording } from './refusal-wordings';
import type { Family, Refusal } from './vendor';

export type Headers = Record<string, string>;

/** What a refusal is about. */
export interface RefusalFacts {
  readonly model: string;
  readonly limit: number;
  readonly retryAfterMs: number | null;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface ErrorReply {
  readonly status: number;
  readonly headers: Headers;
  readonly json: string;
}

/** The answer of a provider of this family that refuses. */
export function refusalReply(family: Family, refusal: Refusal, facts: RefusalFacts): ErrorReply {
  const wording = REFUSALS_BY_FAMILY[family][refusal];
  return {
    status: wording.status,
    headers: retryHeaders(family, facts.retryAfterMs),
    json: JSON.stringify(errorBody(family, { ...wording, message: fillIn(wording.message, facts) }, facts.requestId)),
  };
}

function fillIn(message: string, facts: RefusalFacts): string {
  const waitMs = facts.retryAfterMs ?? 0;
  const values: Record<string, string> = {
    model: facts.model,
    limit: String(facts.limit),
    wait: goDuration(waitMs),
    seconds: String(Math.ceil(waitMs / 1000)),
    reset_time: `${new Date(facts.now + waitMs).toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`,
    id: facts.requestId,
  };
  return message.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

function errorBody(family: Family, { code, type, message }: Wording, requestId: string): object {
  switch (family) {
    case 'anthropic':
      return { type: 'error', error: { type, message }, request_id: requestId };
    case 'azure':
      return { error: { code, message } };
    case 'ark':
      return { error: { code, message, param: '', type } };
    case 'dashscope':
      return { error: { message, type, param: null, code }, request_id: requestId };
    case 'openai':
    case 'plain':
    case 'none':
      return { error: { message, type, param: null, code } };
    default:
      return family satisfies never;
  }
}

function retryHeaders(family: Family, retryAfterMs: number | null): Headers {
  if (retryAfterMs === null || family === 'none' || family === 'dashscope') return {};
  const seconds = { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
  const tellsMs = family === 'openai' || family === 'azure';
  return tellsMs ? { ...seconds, 'retry-after-ms': String(Math.ceil(retryAfterMs)) } : seconds;
}

/** The rate-limit headers of every answer of this family; only of limits that exist. */
export function limitHeaders(family: Family, calls: LimitUse | null, tokens: LimitUse | null, now: number): Headers {
  switch (family) {
    case 'openai':
      return { ...openAiHeaders('requests', calls), ...openAiHeaders('tokens', tokens) };
    case 'azure':
      return { ...remainingHeader('requests', calls), ...remainingHeader('tokens', tokens) };
    case 'anthropic':
      return { ...anthropicHeaders('requests', calls, now), ...anthropicHeaders('tokens', tokens, now) };
    case 'plain':
      return plainHeaders(calls ?? tokens);
    case 'ark':
    case 'dashscope':
    case 'none':
      return {};
    default:
      return family satisfies never;
  }
}

function remainingHeader(unit: string, use: LimitUse | null): Headers {
  return use === null ? {} : { [`x-ratelimit-remaining-${unit}`]: String(use.remaining) };
}

function openAiHeaders(unit: string, use: LimitUse | null): Headers {
  if (use === null) return {};
  return {
    [`x-ratelimit-limit-${unit}`]: String(use.limit),
    [`x-ratelimit-remaining-${unit}`]: String(use.remaining),
    [`x-ratelimit-reset-${unit}`]: goDuration(use.resetMs),
  };
}

function anthropicHeaders(unit: string, use: LimitUse | null, now: number): Headers {
  if (use === null) return {};
  const prefix = `anthropic-ratelimit-${unit}`;
  return {
    [`${prefix}-limit`]: String(use.limit),
    [`${prefix}-remaining`]: String(use.remaining),
    [`${prefix}-reset`]: `${new Date(Math.ceil((now + use.resetMs) / 1000) * 1000).toISOString().slice(0, 19)}Z`,
  };
}

function plainHeaders(use: LimitUse | null): Headers {
  if (use === null) return {};
  return {
    'x-ratelimit-limit': String(use.limit),
    'x-ratelimit-remaining': String(use.remaining),
    'x-ratelimit-reset': String(Math.ceil(use.resetMs / 1000)),
  };
}

/** Milliseconds in the way of OpenAI's headers: `17ms`, `1.5s`, `6m0s`. */
export function goDuration(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole < 1000) return `${whole}ms`;
  const hours = Math.floor(whole / 3_600_000);
  const minutes = Math.floor((whole % 3_600_000) / 60_000);
  const seconds = (whole % 60_000) / 1000;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}
