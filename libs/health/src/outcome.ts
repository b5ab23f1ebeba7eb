import type { Operation } from '@spillway/contracts';

/** What opens a breaker at once: calling again cannot help before somebody acts, or a long time has passed. */
export type Bar = 'quota' | 'auth' | 'billing' | 'unknown-model';

/** What a call tells of the health of its model. */
export type Finding =
  /** It was answered or failed; `weight`: 0 a good answer, 1 a failure, between them an answer that is bad in part. */
  | { readonly kind: 'counted'; readonly weight: number }
  | { readonly kind: 'barred'; readonly why: Bar }
  /** Nothing: the caller left or was at fault, or the model was busy. */
  | { readonly kind: 'untold' };

/** How one call of a model ended. */
export interface Outcome {
  /** Milliseconds since the epoch; a call that began before a change says nothing about what followed it. */
  readonly startedAt: number;
  readonly at: number;
  readonly finding: Finding;
  readonly operation: Operation;
  /** Milliseconds for which the provider asked to be left alone; null: it did not. */
  readonly retryAfterMs: number | null;
  /** Of a good answer: calls of one `size` are compared with each other only; null: not known. */
  readonly latency: { readonly size: string; readonly ms: number } | null;
}
