import {
  InvalidRequest,
  isPriority,
  type Controls,
  type JsonObject,
  type Priority,
  type PriorityControl,
} from '@spillway/contracts';
import { headerText } from './header-text';
import { asyncPreference } from './prefer';

type Headers = Readonly<Record<string, string | undefined>>;

const TIERS: Readonly<Record<string, Priority>> = {
  priority: 'critical',
  fast: 'critical',
  auto: 'normal',
  default: 'normal',
  scale: 'normal',
  flex: 'low',
};
const CACHE_LEVELS = ['off', 'exact', 'semantic'] as const;
const LONGEST_WAIT_MS = 600_000;
const LONGEST_DEADLINE_MS = 86_400_000;
const LONGEST_TTL_S = 31_536_000;
/** What a client's own timeout keeps for the way back: 5 % of it, 100 ms to 2 s. */
const marginOf = (timeoutMs: number): number => Math.min(2_000, Math.max(100, timeoutMs * 0.05));

/**
 * Reads the request controls of the contract from path, headers and body.
 * @throws InvalidRequest naming the control whose value makes no sense.
 */
export function parseControls(pathPriority: Priority | null, headers: Headers, body: JsonObject): Controls {
  const cacheControl = (headers['cache-control'] ?? '').toLowerCase();
  const noStore = /\bno-store\b/.test(cacheControl);
  const [priority, priorityBy] = priorityIn(pathPriority, headers, body);
  return {
    priority,
    priorityBy,
    maxWaitMs:
      wholeNumber(headers, 'x-spillway-max-wait-ms', LONGEST_WAIT_MS) ??
      wholeNumber(headers, 'x-ark-max-wait-timeout-ms', LONGEST_WAIT_MS),
    deadlineMs: deadlineIn(headers),
    scope: headerText(headers['x-spillway-scope'] ?? ''),
    user: userIn(headers, body),
    cacheRead: !noStore && !/\bno-cache\b/.test(cacheControl),
    cacheWrite: !noStore,
    onlyIfCached: /\bonly-if-cached\b/.test(cacheControl),
    cacheLevel: oneOf(headers, 'x-spillway-cache', CACHE_LEVELS),
    cacheTtlS: wholeNumber(headers, 'x-spillway-cache-ttl', LONGEST_TTL_S),
    cacheThreshold: similarity(headers),
  };
}

function priorityIn(
  path: Priority | null,
  headers: Headers,
  body: JsonObject,
): [Priority, PriorityControl] | [null, null] {
  if (path !== null) return [path, 'path'];
  const header = headerPriority(headers);
  if (header !== null) return [header, 'header'];
  const tier = tierPriority(body['service_tier']);
  return tier === null ? [null, null] : [tier, 'service_tier'];
}

function headerPriority(headers: Headers): Priority | null {
  return oneOf(headers, 'x-spillway-priority', ['critical', 'normal', 'low'] as const);
}

function tierPriority(tier: unknown): Priority | null {
  if (tier === undefined || tier === null) return null;
  const priority = typeof tier === 'string' && Object.hasOwn(TIERS, tier) ? TIERS[tier] : undefined;
  if (!isPriority(priority)) {
    throw new InvalidRequest(`service_tier must be one of ${Object.keys(TIERS).join(', ')}.`, {
      param: 'service_tier',
    });
  }
  return priority;
}

/** In the body a text by the API; some clients send the number of an account. */
function userIn(headers: Headers, { user }: JsonObject): string | null {
  const named = headers['x-spillway-user'];
  if (named !== undefined) return headerText(named);
  return typeof user === 'string' || typeof user === 'number' ? String(user) : null;
}

function oneOf<Value extends string>(headers: Headers, name: string, values: readonly Value[]): Value | null {
  const text = headers[name]?.trim().toLowerCase();
  if (text === undefined || text === '') return null;
  const value = values.find(candidate => candidate === text);
  if (value === undefined) throw new InvalidRequest(`${name} must be one of ${values.join(', ')}.`, { param: name });
  return value;
}

function wholeNumber(headers: Headers, name: string, most: number): number | null {
  const text = headers[name]?.trim();
  if (text === undefined || text === '') return null;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : NaN;
  if (!(value <= most)) throw new InvalidRequest(`${name} must be a whole number from 0 to ${most}.`, { param: name });
  return value;
}

function similarity(headers: Headers): number | null {
  const name = 'x-spillway-cache-threshold';
  const text = headers[name]?.trim();
  if (text === undefined || text === '') return null;
  const value = /^(0|1|0?\.\d+|1\.0+)$/.test(text) ? Number(text) : NaN;
  if (!(value <= 1)) throw new InvalidRequest(`${name} must be a number from 0 to 1.`, { param: name });
  return value;
}

/** A caller that prefers a job after a while waits no longer than that. */
function deadlineIn(headers: Headers): number | null {
  const asked = wholeNumber(headers, 'x-spillway-deadline-ms', LONGEST_DEADLINE_MS) ?? clientTimeout(headers);
  const waitMs = asyncPreference(headers['prefer'])?.waitMs ?? null;
  if (waitMs === null) return asked;
  return Math.min(waitMs, asked === null || asked === 0 ? LONGEST_DEADLINE_MS : asked);
}

/** The timeout that OpenAI's SDKs announce, in seconds; what they send wrongly is no reason to refuse a call. */
function clientTimeout(headers: Headers): number | null {
  const seconds = Number(headers['x-stainless-timeout'] ?? headers['x-stainless-read-timeout'] ?? NaN);
  if (!(seconds > 0)) return null;
  const timeoutMs = seconds * 1000;
  return Math.min(LONGEST_DEADLINE_MS, Math.max(1, Math.round(timeoutMs - marginOf(timeoutMs))));
}
