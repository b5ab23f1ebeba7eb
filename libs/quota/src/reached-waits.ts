import type { Clock } from '@spillway/contracts';

/** Three beats may get lost before this process counts as dead. */
const BEAT_MS = 120;

interface ReachedWait {
  readonly until: number;
  readonly models: readonly string[];
}

/**
 * The waits that this process has reached and that have no permit yet. While there are any, one timer shows that the
 * process lives, and looks again at the moment at which the law says that something can be admitted.
 */
export class ReachedWaits {
  private readonly waits = new Map<string, ReachedWait>();
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly look: (models: readonly string[]) => void,
  ) {}

  add(ticket: string, until: number, models: readonly string[]): void {
    this.waits.set(ticket, { until, models });
    this.wakeIn(BEAT_MS);
  }

  delete(ticket: string): void {
    this.waits.delete(ticket);
  }

  /** Looks again after `ms` at the latest. */
  wakeIn(ms: number): void {
    const at = this.clock.now() + ms;
    if (this.stopped || this.waits.size === 0 || at >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = at;
    this.timer = setTimeout(() => this.fire(), ms).unref();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private fire(): void {
    this.dueAt = Infinity;
    const now = this.clock.now();
    for (const [ticket, wait] of this.waits) if (wait.until <= now) this.waits.delete(ticket);
    if (this.waits.size === 0) return;
    this.wakeIn(BEAT_MS);
    this.look([...new Set([...this.waits.values()].flatMap(wait => wait.models))]);
  }
}
