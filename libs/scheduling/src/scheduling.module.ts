import { Global, Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { getQueueToken } from '@nestjs/bullmq';
import type { Queue } from 'bullmq';
import { Turns } from '@spillway/contracts';
import { MemoryPermits, Permits, QuotaModule, UseFollower } from '@spillway/quota';
import { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { MemoryTurns } from './memory-turns';
import { QueuesModule } from './queues.module';
import { Scheduling } from './scheduling';
import { SharedTurns } from './shared-turns';
import { TakeTurnStage } from './take-turn.stage';
import type { TicketJob } from './ticket-queues';
import { TurnDesks } from './turn-desks';

async function sharedTurns(
  desks: TurnDesks,
  permits: Permits,
  modules: LazyModuleLoader,
  follower: UseFollower | null,
  ...[connections, guard, channels]: [RedisConnections | null, RedisGuard | null, RedisChannels | null]
): Promise<SharedTurns | null> {
  if (connections === null || guard === null || channels === null || follower === null) return null;
  const queues = await modules.load(() => QueuesModule);
  const queue = (name: string): Queue<TicketJob> => queues.get(getQueueToken(name), { strict: false });
  const byClass = { critical: queue('critical'), normal: queue('normal'), low: queue('low') };
  const parts = { connections, guard, channels, follower, queues: byClass };
  return new SharedTurns(desks.deskAt(permits), parts, desks.report);
}

/**
 * Turns through BullMQ where Redis is configured, and within the process where it is not or is lost. Global, because
 * routing takes further turns by the port alone, without importing a lib of its own row.
 */
@Global()
@Module({
  imports: [QuotaModule],
  providers: [
    TurnDesks,
    TakeTurnStage,
    {
      provide: MemoryTurns,
      useFactory: (desks: TurnDesks, permits: MemoryPermits) => new MemoryTurns(desks.deskAt(permits), permits),
      inject: [TurnDesks, MemoryPermits],
    },
    {
      provide: SharedTurns,
      useFactory: sharedTurns,
      inject: [TurnDesks, Permits, LazyModuleLoader, UseFollower, RedisConnections, RedisGuard, RedisChannels],
    },
    {
      provide: Scheduling,
      useFactory: (local: MemoryTurns, shared: SharedTurns | null) => new Scheduling(local, shared),
      inject: [MemoryTurns, SharedTurns],
    },
    { provide: Turns, useFactory: (scheduling: Scheduling) => scheduling.turns, inject: [Scheduling] },
  ],
  exports: [Turns, TakeTurnStage, Scheduling],
})
export class SchedulingModule {}
