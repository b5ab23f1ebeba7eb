import type { Operation } from '@spillway/contracts';

/** What opens a breaker at once: calling again cannot help before somebody acts, or a long time has passed. */
export type Bar = 'quota' | 'auth' | 'billing' | 'unknown-model';

/** What a call tells of the health of its model. */
export type Finding =
  /** It was answered or failed; `weight`: 0 a good answer, 1 a failure, between them an answer that is bad in part. */
  | { readonly kind: 'counted'; readonly weight: number }
  | { readonly kind: 'barred'; readonly why: Bar }
  /** It was given up because another model, asked as well, had answered: it took at least so long, and no more is known. */
  | { readonly kind: 'outrun' }
  /** Nothing: the caller left or was at fault, or the model was busy. */
  | { readonly kind: 'untold' };

interface Latency {
  readonly size: string;
  readonly ms: number;
}

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
  readonly latency: Latency | null;
  /**
   * The same of calls that a second model may be asked for: `size` is what was expected before the call, as that is all
   * that is known when it must be decided. Of a call that was outrun: at least so long. Absent or null: not such a call.
   */
  readonly foreseen?: Latency | null;
}
