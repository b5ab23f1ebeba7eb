import { Injectable } from '@nestjs/common';
import { Clock } from '@spillway/contracts';
import { Logger } from '@spillway/telemetry';
import { skewOf } from './provider-time';
import type { Headers } from './rate-limits';

/** Dates are not parsed more often than this, ms; clocks drift slowly. */
const LOOK_EVERY_MS = 5_000;

interface Watched {
  lookAt: number;
  skewMs: number | null;
}

/** Notices providers whose clock differs from ours, which makes the times of day they name worth little. */
@Injectable()
export class ClockWatch {
  private readonly providers = new Map<string, Watched>();

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Reports a difference once, and again only after it was gone. */
  note(provider: string, headers: Headers): void {
    const now = this.clock.now();
    const watched = this.providers.get(provider) ?? { lookAt: 0, skewMs: null };
    if (watched.lookAt > now) return;
    const skewMs = skewOf(headers, now);
    if (skewMs !== null && watched.skewMs === null) {
      this.logger.warn({ provider, skew_ms: skewMs }, 'the clock of a provider and ours differ');
    }
    this.providers.set(provider, { lookAt: now + LOOK_EVERY_MS, skewMs });
  }

  /** By how many ms the clocks of providers are ahead of ours; only of those that differ. */
  skews(): Readonly<Record<string, number>> {
    const skews = [...this.providers].flatMap(([name, { skewMs }]) =>
      skewMs === null ? [] : [[name, skewMs] as const],
    );
    return Object.fromEntries(skews);
  }
}
