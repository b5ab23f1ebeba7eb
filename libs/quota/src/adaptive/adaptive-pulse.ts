import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Permits } from '../permits';
import { AdaptiveLimits } from './adaptive-limits';

const EVERY_MS = 1000;

/** Moves the adaptive limits on once a second. While Redis is lost they stay as they are. */
@Injectable()
export class AdaptivePulse implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private beating = false;

  constructor(
    private readonly limits: AdaptiveLimits,
    private readonly permits: Permits,
  ) {}

  /** The first look is awaited: a model that others have limited or warmed up must not start afresh. */
  async onApplicationBootstrap(): Promise<void> {
    await this.beat();
    this.timer = setInterval(() => void this.beat(), EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async beat(): Promise<void> {
    if (this.beating) return;
    this.beating = true;
    await this.limits.exchange(() => this.permits.inflight()).catch(() => undefined);
    this.beating = false;
  }
}
