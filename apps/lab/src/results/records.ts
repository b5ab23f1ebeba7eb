import type { Priority } from '@spillway/contracts';
import type { Reply, Tier } from '../callers/caller';
import type { PlannedCall } from '../workload/plan';

/** How a call ended: in time, after its deadline, with the fallback text, refused (429), or failed otherwise. */
type Ending = 'answered' | 'late' | 'fallback' | 'refused' | 'failed';

/** What is kept of one call. */
export interface CallRecord {
  readonly load: string;
  readonly priority: Priority;
  /** Milliseconds after the start for which it was planned. */
  readonly plannedMs: number;
  /** Milliseconds from then to its end. */
  readonly tookMs: number;
  readonly ending: Ending;
  readonly tier: Tier | null;
  /** Whether the answer belongs to another question. */
  readonly isWrong: boolean;
  readonly tries: number;
}

/** What became of a planned call, when it ended `tookMs` after its moment. */
export function recordOf(
  planned: PlannedCall,
  reply: Reply,
  tookMs: number,
  deadlineMs: number,
  isRight: (text: string, planned: PlannedCall) => boolean,
): CallRecord {
  return {
    load: planned.load,
    priority: planned.priority,
    plannedMs: planned.ms,
    tookMs,
    ending: endingOf(reply, tookMs, deadlineMs),
    tier: reply.kind === 'answer' ? reply.tier : null,
    isWrong: reply.kind === 'answer' && !isRight(reply.text, planned),
    tries: reply.kind === 'fallback' ? 1 : reply.tries,
  };
}

function endingOf(reply: Reply, tookMs: number, deadlineMs: number): Ending {
  switch (reply.kind) {
    case 'answer':
      return tookMs <= deadlineMs ? 'answered' : 'late';
    case 'fallback':
      return 'fallback';
    case 'error':
      if (reply.status === 429) return 'refused';
      return reply.status === null || reply.status === 504 ? 'late' : 'failed';
    default:
      return reply satisfies never;
  }
}
