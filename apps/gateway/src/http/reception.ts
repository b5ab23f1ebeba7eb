import { Injectable } from '@nestjs/common';
import { ShuttingDown } from '@spillway/contracts';

/** Knows the calls under way, and closes the door when the process is to stop. */
@Injectable()
export class Reception {
  private readonly guests = new Set<AbortController>();
  private closing = false;
  private emptied: (() => void) | null = null;

  get isOpen(): boolean {
    return !this.closing;
  }

  /** @throws ShuttingDown once the process is stopping. */
  enter(): AbortController {
    if (this.closing) throw shuttingDown();
    const guest = new AbortController();
    this.guests.add(guest);
    return guest;
  }

  leave(guest: AbortController): void {
    this.guests.delete(guest);
    if (this.guests.size === 0) this.emptied?.();
  }

  /** Takes nobody in any more; resolves when all have left, the last ones sent away after `patienceMs`. */
  async close(patienceMs: number): Promise<void> {
    this.closing = true;
    if (this.guests.size === 0) return;
    const empty = new Promise<void>(resolve => (this.emptied = resolve));
    const timer = setTimeout(() => {
      for (const guest of this.guests) guest.abort(shuttingDown());
    }, patienceMs);
    await empty;
    clearTimeout(timer);
  }
}

function shuttingDown(): ShuttingDown {
  return new ShuttingDown('This process is shutting down; another one may answer.', { retryAfterMs: 1_000 });
}
