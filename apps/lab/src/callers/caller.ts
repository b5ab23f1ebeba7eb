import type { PlannedCall } from '../workload/plan';

/** Who gave the answer. */
export type Tier = 'generated' | 'exact' | 'canonical' | 'semantic' | 'coalesced';

/** How one call ended for its caller. */
export type Reply =
  | { readonly kind: 'answer'; readonly text: string; readonly tier: Tier; readonly tries: number }
  /** A text instead of an answer. */
  | { readonly kind: 'fallback' }
  | { readonly kind: 'error'; readonly status: number | null; readonly tries: number };

/** A program that wants answers; it gives up when `signal` says so. */
export interface Caller {
  call(planned: PlannedCall, signal: AbortSignal): Promise<Reply>;
  close(): Promise<void>;
}

/** The messages of a call, as every client sends them. */
export function messagesOf({
  question,
}: Pick<PlannedCall, 'question'>): { role: 'system' | 'user'; content: string }[] {
  return [
    { role: 'system', content: question.system },
    { role: 'user', content: question.text },
  ];
}
