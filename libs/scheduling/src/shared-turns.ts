import type { Queue } from 'bullmq';
import type { Priority } from '@spillway/contracts';
import type { UseFollower } from '@spillway/quota';
import { RedisUnavailable, type RedisChannels, type RedisConnections, type RedisGuard } from '@spillway/redis';
import type { TurnDesk } from './turn-desk';
import { QueuedTurns } from './queued-turns';
import type { Report } from './report';
import { TicketQueues, bullPrefix, type TicketJob } from './ticket-queues';
import { TurnSignals } from './turn-signals';
import { TurnWorkers } from './turn-workers';

/** What this process has of Redis. */
export interface RedisParts {
  readonly connections: RedisConnections;
  readonly guard: RedisGuard;
  readonly channels: RedisChannels;
  readonly follower: Pick<UseFollower, 'behind'>;
  readonly queues: Readonly<Record<Priority, Queue<TicketJob>>>;
}

/** The part of this process in the turns of all processes on one Redis. */
export class SharedTurns {
  readonly turns: QueuedTurns;
  readonly queues: TicketQueues;
  private readonly signals: TurnSignals;
  private workers: TurnWorkers | null = null;

  constructor(
    private readonly desk: TurnDesk,
    private readonly redis: RedisParts,
    private readonly report: Report,
  ) {
    const { connections, guard, channels, queues } = redis;
    this.signals = new TurnSignals(desk.processId, connections.prefix, channels, report);
    this.queues = new TicketQueues(queues, guard, report);
    this.turns = new QueuedTurns(desk, this.queues, this.signals, report);
    guard.onStateChange(state => {
      if (state === 'lost') desk.room.failAll(new RedisUnavailable('lost'));
    });
  }

  /** Also while Redis is back but does not know yet what this process has admitted without it. */
  get lost(): boolean {
    return this.redis.guard.state === 'lost' || this.redis.follower.behind;
  }

  /** From now on this process also hands out turns, to itself and to others. */
  handOut(): void {
    const { connections } = this.redis;
    this.workers ??= new TurnWorkers(
      this.desk.permits,
      this.signals,
      {
        connection: connections.get('worker'),
        prefix: bullPrefix(connections.prefix),
        concurrency: this.desk.settings.current.scheduling.worker_concurrency,
      },
      this.report,
    );
  }

  async stop(): Promise<void> {
    await this.workers?.close(this.lost);
    this.turns.stop();
    this.signals.stop();
  }
}
