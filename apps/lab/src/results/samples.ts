import type { Priority } from '@spillway/contracts';
import type { ModelStats } from '../../../simulator/src/model-state';

/** What was to be seen at one moment of a run. */
export interface Sample {
  /** Milliseconds after the start. */
  readonly ms: number;
  /** The provider's own counts since the start of the run. */
  readonly provider: Readonly<Record<string, ProviderCounts>>;
  /** Calls that their callers have begun and not ended. */
  readonly open: Readonly<Record<Priority, number>>;
  /** Calls in Spillway's queues; null without Spillway. */
  readonly queued: Readonly<Record<Priority, number>> | null;
  /** Calls a second that the climber admits, by model; null: no ceiling, or no climber. */
  readonly rates: Readonly<Record<string, number | null>>;
  /** Parts (Redis, Qdrant) that Spillway says are lost; null where nobody says so. */
  readonly lost: readonly string[] | null;
  /** Resident memory of Spillway in bytes, and its open file descriptors; null without Spillway. */
  readonly process: { readonly rss: number; readonly handles: number } | null;
}

export interface ProviderCounts {
  readonly accepted: number;
  readonly refused: number;
  readonly tokens: number;
  readonly inflight: number;
}

/** The counts of a model since `before`. */
export function countsSince(now: ModelStats, before: ModelStats | undefined): ProviderCounts {
  const total = (stats: ModelStats | undefined): ProviderCounts => ({
    accepted: stats?.accepted ?? 0,
    refused: Object.values(stats?.refused ?? {}).reduce((sum, one) => sum + one, 0),
    tokens: (stats?.tokens_in ?? 0) + (stats?.tokens_out ?? 0),
    inflight: 0,
  });
  const [then, later] = [total(before), total(now)];
  return {
    accepted: later.accepted - then.accepted,
    refused: later.refused - then.refused,
    tokens: later.tokens - then.tokens,
    inflight: now.inflight,
  };
}
