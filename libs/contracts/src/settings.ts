import type { Priority } from './priority';
import type { Usage } from './usage';

/*
 * What a call needs to know of the configuration, in the configuration's own spelling. A call keeps the settings it
 * was classified with, so that a reload never changes the rules for a call under way.
 */

/** What metrics and reports call all names that are not configured: callers make them up without end. */
export const OTHER = 'other';

export interface ProviderSettings {
  readonly name: string;
  readonly base_url: string;
  readonly api_key?: string | undefined;
  /** Extra headers of every request to this provider. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether streams are asked for their usage chunk. */
  readonly stream_usage: boolean;
}

export interface LimitSettings {
  /** Requests in any 60 s; 0: none. */
  readonly rpm: number;
  /** Tokens in any 60 s; 0: none. */
  readonly tpm: number;
  /** Tokens in any 24 h; 0: none. */
  readonly tpd: number;
  /** Calls at the same time; 0: none. */
  readonly inflight: number;
}

export interface ModelSettings {
  readonly name: string;
  /** What metrics call it: the name of a configured model, `other` for one that is passed through. */
  readonly metric_label: string;
  readonly provider: ProviderSettings;
  readonly upstream_model: string;
  readonly limits: LimitSettings;
  /** Share of each limit that is left alone, 0 to below 1. */
  readonly headroom: number;
  /** Milliseconds for the whole call, a stream included. */
  readonly timeout_ms: number;
  /** Milliseconds until the first content of a stream. */
  readonly first_token_timeout_ms: number;
  /** Milliseconds between two pieces of an answer. */
  readonly idle_timeout_ms: number;
  /** Tokens; absent: unknown. */
  readonly context_window?: number | undefined;
  /** Money per million tokens; absent: unknown. */
  readonly price?: Usage | undefined;
}

/** What keeps a question from all but the exact cache, in order of cost; each can be switched off for a route. */
export const CACHE_RULES = [
  'choices',
  'long',
  'tools',
  'images',
  'json',
  'logs',
  'code',
  'volatile',
  'action',
  'personal',
] as const;

/** What an answer that came may still be bad in; each can be switched off for a route. */
export type QualitySignal = 'repetition' | 'short' | 'empty' | 'truncated' | 'filtered' | 'json' | 'speed' | 'canary';

export type CacheRule = (typeof CACHE_RULES)[number];

export interface RouteCacheSettings {
  readonly exact: boolean;
  readonly semantic: boolean | 'shadow';
  readonly ttl_s: number;
  /** Least cosine of a semantic hit; null: what the embedder is calibrated to. */
  readonly threshold: number | null;
  /** Null: what the embedder calls for. */
  readonly guard: 'strict' | 'balanced' | 'off' | null;
  /** Rules that are not named hold. */
  readonly rules?: Readonly<Partial<Record<CacheRule, boolean>>>;
}

/** When a second model is asked beside one that takes longer than usual. */
interface HedgeSettings {
  /** Of the CRITICAL calls of the route, above 0 and up to 1. */
  readonly max_share: number;
  /** Milliseconds: never earlier after the first model was called. */
  readonly after_ms: number;
}

export interface RouteSettings {
  readonly name: string;
  readonly chain: readonly ModelSettings[];
  readonly chain_by_priority: Readonly<Partial<Record<Priority, readonly ModelSettings[]>>>;
  /** Seconds that a kept answer may be served after it has expired, when nothing else can answer; 0: not at all. */
  readonly stale_if_error_s: number;
  /** Absent: a call waits for one model at a time. */
  readonly hedge?: HedgeSettings | undefined;
  /** What counts against a model; signals that are not named do. */
  readonly quality?: Readonly<Partial<Record<QualitySignal, boolean>>>;
  /** What a class is told when nothing can answer; null: the error. */
  readonly fallback_response: Readonly<Record<Priority, string | null>>;
  readonly cache: RouteCacheSettings;
}

export interface PrioritySettings {
  readonly queue_limit: number;
  readonly max_wait_ms: number;
  /** 0: none. */
  readonly deadline_ms: number;
  readonly share: number;
  readonly min_share: number;
}
