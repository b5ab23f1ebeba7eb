import type { BeforeApplicationShutdown, OnApplicationShutdown } from '@nestjs/common';
import type { Priority, Turns } from '@spillway/contracts';
import { ownerOf, type ModelReport, type WaitReport } from '@spillway/quota';
import { RedisUnavailable } from '@spillway/redis';
import type { MemoryTurns } from './memory-turns';
import type { PermitTurns } from './permit-turns';
import { ResilientTurns } from './resilient-turns';
import type { SharedTurns } from './shared-turns';
import type { TicketQueues } from './ticket-queues';

/** A wait, and the process whose caller it is. */
interface TicketReport extends WaitReport {
  readonly owner: string;
}

/** What waits in one class. */
export interface QueueReport {
  readonly depth: number;
  /** The longest that one of the tickets shown has waited; null: there is none. */
  readonly oldestMs: number | null;
  readonly tickets: readonly TicketReport[];
  /** BullMQ's jobs by state; null: none carry tickets here. */
  readonly jobs: Readonly<Record<string, number>> | null;
}

/** All that one process has to do with turns. */
export class Scheduling implements BeforeApplicationShutdown, OnApplicationShutdown {
  readonly turns: Turns;
  private stopping: Promise<void> | null = null;

  constructor(
    private readonly local: MemoryTurns,
    /** Null: no Redis is configured. */
    private readonly shared: SharedTurns | null,
  ) {
    this.turns = shared === null ? local : new ResilientTurns(shared, local);
  }

  /** Makes this process one that hands out turns, its own and those of others; without Redis every process is. */
  handOutTurns(): void {
    this.shared?.handOut();
  }

  /** Waiting calls by class: those of all processes on one Redis, and while it is lost those of this one. */
  depths(): Promise<Readonly<Record<Priority, number>>> {
    return this.look(turns => turns.depths());
  }

  /** What waits in a class: the tickets that end first, at most so many, and the jobs that carry some of them. */
  async queue(priority: Priority, most: number): Promise<QueueReport> {
    const [waits, depths, jobs] = await this.look((turns, queues) =>
      Promise.all([turns.waits(priority, most), turns.depths(), queues === null ? null : queues.counts(priority)]),
    );
    return {
      depth: depths[priority],
      oldestMs: waits.length === 0 ? null : Math.max(...waits.map(({ waitedMs }) => waitedMs)),
      tickets: waits.map(wait => ({ owner: ownerOf(wait.ticket), ...wait })),
      jobs,
    };
  }

  /** Calls under way by model, of the same processes. */
  inflight(): Promise<Readonly<Record<string, number>>> {
    return this.look(turns => turns.inflight());
  }

  /** What the limits of a model hold, and what its waiting calls wait for. */
  explain(model: string): Promise<ModelReport> {
    return this.look(turns => turns.explain(model));
  }

  /** Hands out no more turns and ends what still waits here. Calls that have their turn are not touched. */
  stopTakingTurns(): Promise<void> {
    this.stopping ??= this.stop();
    return this.stopping;
  }

  /** Runs before the hook in which the connections to Redis close. */
  beforeApplicationShutdown(): Promise<void> {
    return this.stopTakingTurns();
  }

  onApplicationShutdown(): void {
    this.shared?.turns.leave();
    this.local.leave();
  }

  /** Asks all processes on one Redis; while it is lost, and where that shows just now, this one. */
  private async look<T>(ask: (turns: PermitTurns, queues: TicketQueues | null) => Promise<T>): Promise<T> {
    const { shared, local } = this;
    if (shared === null || shared.lost) return ask(local, null);
    try {
      return await ask(shared.turns, shared.queues);
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      return ask(local, null);
    }
  }

  private async stop(): Promise<void> {
    await this.shared?.stop();
    this.local.stop();
  }
}
