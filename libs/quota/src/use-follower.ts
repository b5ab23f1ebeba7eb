import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { LocalShare } from './local-share';
import type { MemoryPermits } from './memory-permits';
import type { RedisPermits } from './redis-permits';

const EVERY_MS = 1000;

/** Once a second makes this process known to the others, and has its own permits follow what all of them use. */
export class UseFollower implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private looking = false;

  constructor(
    private readonly shared: Pick<RedisPermits, 'follow'>,
    private readonly share: Pick<LocalShare, 'note'>,
    private readonly own: Pick<MemoryPermits, 'book'>,
  ) {}

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
      const { processes, uses } = await this.shared.follow();
      this.own.book(this.share.note(processes, uses));
    } catch {
      /* It is tried again in a second. */
    } finally {
      this.looking = false;
    }
  }
}
