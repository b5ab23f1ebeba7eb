import type { Reply } from '../callers/caller';
import type { PlannedCall } from '../workload/plan';
import type { VirtualCaller } from './virtual-caller';
import type { VirtualTime } from './virtual-time';

/** Where an error does not say when to come back. */
const WAIT_MS = 1000;

/** Callers of Spillway that repeat where it tells them to: errors of the model, after the first try of a call. */
export class VirtualRepeats implements VirtualCaller {
  constructor(
    private readonly time: VirtualTime,
    private readonly caller: VirtualCaller,
    private readonly repeats: number,
  ) {}

  call(planned: PlannedCall, done: (reply: Reply) => void): () => void {
    let leave = (): void => undefined;
    let isGone = false;
    const attempt = (repeat: number): void => {
      if (isGone) return;
      leave = this.caller.call(planned, reply => {
        if (repeat >= this.repeats || !isWorthRepeating(reply)) return done(counted(reply, repeat));
        this.time.after(WAIT_MS, () => attempt(repeat + 1));
      });
    };
    attempt(0);
    return () => {
      isGone = true;
      leave();
    };
  }
}

function isWorthRepeating(reply: Reply): boolean {
  return reply.kind === 'error' && reply.status !== null && reply.status >= 429 && reply.tries <= 1;
}

function counted(reply: Reply, repeats: number): Reply {
  return reply.kind === 'fallback' ? reply : { ...reply, tries: reply.tries + repeats };
}
