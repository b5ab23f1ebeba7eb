import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { AdaptiveLimits, ServiceTimes, TicketIds, TokenEstimator, type Permits } from '@spillway/quota';
import { Logger } from '@spillway/telemetry';
import { OpenTurns } from './open-turns';
import type { TurnDesk } from './turn-desk';
import { reportTo, type Report } from './report';
import { WaitingRoom } from './waiting-room';

/** Sets up this process to take turns from permits. */
@Injectable()
export class TurnDesks {
  readonly report: Report;
  /** New at every start: nobody may take a process for the one that was there before. */
  private readonly processId = randomBytes(8).toString('hex');
  private readonly tickets = new TicketIds(this.processId);
  private readonly times = new ServiceTimes();

  constructor(
    private readonly clock: Clock,
    private readonly config: ConfigStore,
    private readonly estimator: TokenEstimator,
    private readonly adaptive: AdaptiveLimits,
    logger: Logger,
  ) {
    this.report = reportTo(logger);
  }

  deskAt(permits: Permits): TurnDesk {
    const { clock, config: settings, estimator, adaptive, times, processId, tickets, report } = this;
    const open = new OpenTurns(permits, clock, settings.current.scheduling, report);
    const room = new WaitingRoom(clock);
    return { processId, permits, estimator, adaptive, times, clock, settings, tickets, open, room };
  }
}
