import { setTimeout as sleep } from 'node:timers/promises';

const WINDOW_MS = 60_000;

/** So many calls in each minute that begins on the minute of its start: what clients often build for themselves. */
export class WindowLimiter {
  private readonly startedAt = performance.now();
  private window = 0;
  private used = 0;

  constructor(private readonly perWindow: number) {}

  /** Waits for a place; rejects when the caller gives up. */
  async enter(signal: AbortSignal): Promise<void> {
    for (;;) {
      const elapsed = performance.now() - this.startedAt;
      const window = Math.floor(elapsed / WINDOW_MS);
      if (window !== this.window) [this.window, this.used] = [window, 0];
      if (this.used < this.perWindow) {
        this.used += 1;
        return;
      }
      await sleep((window + 1) * WINDOW_MS - elapsed + 1, undefined, { signal });
    }
  }
}
