import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { CallController, ShuttingDown } from '@spillway/contracts';
import { whenOver } from './caller-connection';

/** For the last words to those who are sent away; a caller that does not read them must not keep the process. */
const FAREWELL_MS = 1_000;

/** Knows the calls under way, and closes the door when the process is to stop. */
@Injectable()
export class Reception {
  private readonly guests = new Set<CallController>();
  private closing = false;
  private emptied: (() => void) | null = null;

  get isOpen(): boolean {
    return !this.closing;
  }

  /** @throws ShuttingDown once the process is stopping. */
  enter(): CallController {
    if (this.closing) throw shuttingDown();
    const guest = new CallController();
    this.guests.add(guest);
    return guest;
  }

  /** For an answer that its caller reads slowly: a stop waits for it. */
  holdUntilSent(response: ServerResponse): void {
    const guest = new CallController();
    this.guests.add(guest);
    whenOver(response, () => this.leave(guest));
  }

  leave(guest: CallController): void {
    this.guests.delete(guest);
    if (this.guests.size === 0) this.emptied?.();
  }

  /** Takes nobody in any more; resolves when all have left. Who is there after `patienceMs` is sent away. */
  async close(patienceMs: number): Promise<void> {
    this.closing = true;
    await this.empty(patienceMs);
    for (const guest of this.guests) guest.abort(shuttingDown());
    await this.empty(FAREWELL_MS);
  }

  private empty(withinMs: number): Promise<void> {
    if (this.guests.size === 0) return Promise.resolve();
    return new Promise(resolve => {
      const timer = setTimeout(resolve, withinMs);
      this.emptied = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function shuttingDown(): ShuttingDown {
  return new ShuttingDown('This process is shutting down; another one may answer.', { retryAfterMs: 1_000 });
}
