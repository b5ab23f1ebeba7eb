import type { ModelSettings } from '@spillway/contracts';
import type { TimeLimit } from './upstream-failure';

type Limits = Pick<ModelSettings, 'timeout_ms' | 'first_token_timeout_ms' | 'idle_timeout_ms'>;

/** The longest time a timer of Node can hold; longer ones would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Watches one call's limits of time with a single timer, which is only set anew when it fires or a limit comes closer:
 * chunks cost it a subtraction. Idle time counts from the first byte, and only while somebody waits for the next.
 */
export class TimeLimits {
  private readonly startedAt = performance.now();
  private firstTokenBy: number;
  private idleSince: number | null = null;
  private answering = false;
  private timer: NodeJS.Timeout | null = null;
  private firesAt = Infinity;

  constructor(
    private readonly limits: Limits,
    streaming: boolean,
    private readonly onExpired: (limit: TimeLimit) => void,
  ) {
    this.firstTokenBy = streaming ? this.startedAt + limits.first_token_timeout_ms : Infinity;
    this.arm(this.startedAt);
  }

  /** Somebody waits for the next piece. */
  waiting(): void {
    if (!this.answering) return;
    this.idleSince = performance.now();
    if (this.idleSince + this.limits.idle_timeout_ms < this.firesAt) this.arm(this.idleSince);
  }

  /** It came. */
  arrived(): void {
    this.answering = true;
    this.idleSince = null;
  }

  /** The answer has its first content. */
  contentArrived(): void {
    this.firstTokenBy = Infinity;
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private arm(now: number): void {
    this.stop();
    const next = Math.min(...Object.values(this.deadlines()));
    this.firesAt = next;
    this.timer = setTimeout(() => this.fire(), Math.min(Math.max(next - now, 0), LONGEST_TIMER_MS));
  }

  private fire(): void {
    // A timer may fire up to a millisecond early.
    const now = performance.now() + 1;
    const { total, 'first-token': firstToken, idle } = this.deadlines();
    if (total <= now) this.onExpired('total');
    else if (firstToken <= now) this.onExpired('first-token');
    else if (idle <= now) this.onExpired('idle');
    else this.arm(now);
  }

  private deadlines(): Readonly<Record<TimeLimit, number>> {
    return {
      total: this.startedAt + this.limits.timeout_ms,
      'first-token': this.firstTokenBy,
      idle: this.idleSince === null ? Infinity : this.idleSince + this.limits.idle_timeout_ms,
    };
  }
}
