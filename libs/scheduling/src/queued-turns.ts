import type { WaitRequest } from '@spillway/quota';
import { PermitTurns } from './permit-turns';
import { queueFull } from './refusals';
import type { TurnDesk } from './turn-desk';
import type { Report } from './report';
import type { TicketQueues } from './ticket-queues';
import type { TurnSignals } from './turn-signals';
import { Watchdog } from './watchdog';

/** Turns shared by all processes on one Redis: tickets go through BullMQ to a worker, grants come back as signals. */
export class QueuedTurns extends PermitTurns {
  protected readonly place = 'redis';
  private readonly watchdog: Watchdog;

  constructor(
    desk: TurnDesk,
    private readonly queues: TicketQueues,
    signals: TurnSignals,
    report: Report,
  ) {
    super(desk);
    signals.onTurn(grant => this.receive(grant));
    this.watchdog = new Watchdog(
      desk.permits,
      desk.room,
      {
        receive: grant => this.receive(grant),
        sendAgain: requests => this.queues.addMissing(requests),
        enterAgain: request => this.enterAgain(request),
      },
      report,
    );
  }

  override stop(): void {
    this.watchdog.stop();
    super.stop();
  }

  /** Both go the same way to Redis, so that the wait is there when its job is taken; else the watchdog sends it again. */
  protected get sendsAtOnce(): boolean {
    return !this.desk.settings.current.scheduling.express;
  }

  protected send(request: WaitRequest): Promise<void> {
    return this.queues.add(request);
  }

  protected recall(request: WaitRequest): void {
    /* A job that stays is taken by a worker, which finds its ticket gone. */
    this.queues.remove(request).catch(() => undefined);
  }

  private async enterAgain(request: WaitRequest): Promise<void> {
    const entry = await this.enter(request);
    switch (entry.kind) {
      case 'granted':
        return this.receive(entry.grant);
      case 'full':
        return this.desk.room.fail(request.ticket, queueFull(entry.retryAfterMs));
      case 'queued':
        return this.send(request);
      default:
        return entry satisfies never;
    }
  }
}
