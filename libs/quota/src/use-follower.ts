import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '@spillway/contracts';
import type { RedisGuard } from '@spillway/redis';
import type { AlonePermits } from './alone-permits';
import type { LocalShare } from './local-share';
import type { RedisPermits } from './redis-permits';

const EVERY_MS = 1000;

/**
 * Once a second, and when Redis is back, makes this process and what it used alone known to the others, and has its own
 * permits follow what all of them use.
 */
export class UseFollower implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private looking = false;
  private isBehind = false;

  constructor(
    private readonly shared: Pick<RedisPermits, 'follow'>,
    private readonly share: Pick<LocalShare, 'note'>,
    private readonly own: Pick<AlonePermits, 'book' | 'report'>,
    private readonly clock: Clock,
    private readonly guard: Pick<RedisGuard, 'state' | 'onStateChange'>,
  ) {
    // Others must know what was used alone before they grant anew.
    guard.onStateChange(state => {
      if (state === 'ok') void this.look();
      else this.isBehind = true;
    });
  }

  /** From the loss of Redis until it knows what this process has used alone. */
  get behind(): boolean {
    return this.isBehind;
  }

  /** The first look is awaited: a process must know of the others before it can lose them. */
  async onApplicationBootstrap(): Promise<void> {
    await this.look();
    this.timer = setInterval(() => void this.look(), EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** While Redis is lost the last count stands. */
  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      await this.own.report(this.clock.now());
      if (this.guard.state === 'ok') this.isBehind = false;
      const { processes, uses } = await this.shared.follow();
      this.own.book(this.share.note(processes, uses));
    } catch {
      /* It is tried again in a second. */
    } finally {
      this.looking = false;
    }
  }
}
