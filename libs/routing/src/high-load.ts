import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Permits } from '@spillway/quota';

const LOOK_EVERY_MS = 500;

/** Whether so many calls wait that classes are shed; looked at twice a second where a route asks. */
@Injectable()
export class HighLoad implements OnApplicationBootstrap, OnApplicationShutdown {
  private high = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly config: ConfigStore,
    private readonly permits: Permits,
  ) {}

  get isHigh(): boolean {
    return this.high;
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    const { routes, high_load: limits } = this.config.current;
    const matters = [...routes.values()].some(({ shed_to: to, hedge }) => Object.keys(to).length > 0 || hedge);
    // While Redis is lost nobody knows how many wait.
    const depths = matters ? await this.permits.depths().catch(() => null) : null;
    this.high = depths !== null && (depths.normal > limits.normal_queue || depths.low > limits.low_queue);
  }
}
