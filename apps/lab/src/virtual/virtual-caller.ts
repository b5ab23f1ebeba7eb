import type { JsonObject } from '@spillway/contracts';
import { messagesOf, type Reply } from '../callers/caller';
import { ROUTE } from '../scenario/settings';
import type { PlannedCall } from '../workload/plan';

/** A program that wants answers, in virtual time. */
export interface VirtualCaller {
  /**
   * Makes a call; `done` is told once how it ended, if it ends before the returned function is called: the caller has
   * left then.
   */
  call(planned: PlannedCall, done: (reply: Reply) => void): () => void;
}

/** The body that callers send. */
export function bodyOf(planned: PlannedCall): JsonObject {
  return { model: ROUTE, messages: messagesOf(planned).map(message => ({ ...message })) };
}
