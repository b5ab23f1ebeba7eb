import type { CallSignal, Clock, Turn } from '@spillway/contracts';
import type { Grant, WaitRequest } from '@spillway/quota';
import { endOfWait, tooLate } from './refusals';

interface WaitDetails {
  readonly request: WaitRequest;
  /** Ends the wait with its reason. */
  readonly signal: CallSignal;
  /** When it is worth while to ask again, told as the wait ends. */
  readonly retryAfterMs: () => number;
  readonly accept: (grant: Grant) => Turn;
}

interface OpenWait {
  readonly request: WaitRequest;
  /** Milliseconds since the epoch. */
  readonly checkedAt: number;
  readonly admit: (grant: Grant) => void;
  readonly refuse: (error: unknown) => void;
}

/** Who waits in this process. A wait ends once: by its grant, its time, its caller leaving, or a failure. */
export class WaitingRoom {
  private readonly waits = new Map<string, OpenWait>();

  constructor(private readonly clock: Clock) {}

  /**
   * Waits for the grant of a request. `accept` runs within `admit`, so that a second message about the same grant
   * already finds its turn.
   * @throws QueueTimeout with `retryAfterMs` when `turnBy` passes, the reason of the signal, or what `fail` was given.
   */
  wait({ request, signal, retryAfterMs, accept }: WaitDetails): Promise<Turn> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.waits.delete(request.ticket);
      };
      const refuse = (error: unknown): void => {
        leave();
        reject(error);
      };
      const admit = (grant: Grant): void => {
        leave();
        try {
          resolve(accept(grant));
        } catch (error) {
          reject(error as Error);
        }
      };
      const onAbort = (): void => refuse(endOfWait(signal, retryAfterMs()));
      const timer = setTimeout(() => refuse(tooLate(retryAfterMs())), Math.max(0, request.turnBy - this.clock.now()));
      signal.addEventListener('abort', onAbort, { once: true });
      this.waits.set(request.ticket, { request, checkedAt: this.clock.now(), admit, refuse });
      if (signal.aborted) onAbort();
    });
  }

  /** Hands a grant to who waits for it; false: nobody does. */
  admit(grant: Grant): boolean {
    const wait = this.waits.get(grant.ticket);
    wait?.admit(grant);
    return wait !== undefined;
  }

  fail(ticket: string, error: unknown): void {
    this.waits.get(ticket)?.refuse(error);
  }

  failAll(error: unknown): void {
    for (const wait of this.waits.values()) wait.refuse(error);
  }

  find(ticket: string): WaitRequest | undefined {
    return this.waits.get(ticket)?.request;
  }

  /** Up to `count` tickets that were not looked at for `periodMs`, the longest neglected first; now they were. */
  due(count: number, periodMs: number): readonly string[] {
    const now = this.clock.now();
    const due: string[] = [];
    for (const [ticket, wait] of this.waits) {
      if (due.length === count || wait.checkedAt + periodMs > now) break;
      due.push(ticket);
      this.waits.delete(ticket);
      this.waits.set(ticket, { ...wait, checkedAt: now });
    }
    return due;
  }
}
