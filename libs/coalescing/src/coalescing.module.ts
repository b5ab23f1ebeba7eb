import { Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { Metrics } from '@spillway/telemetry';
import { CoalesceStage } from './coalesce.stage';
import { Neighbours } from './neighbours';

function neighbours(
  clock: Clock,
  ...[connections, guard, channels]: [RedisConnections | null, RedisGuard | null, RedisChannels | null]
): Neighbours | null {
  if (connections === null || guard === null || channels === null) return null;
  return new Neighbours({ connections, guard, channels }, clock);
}

/** Equal calls share one answer: in this process, and among processes where Redis is configured. */
@Module({
  providers: [
    { provide: Neighbours, useFactory: neighbours, inject: [Clock, RedisConnections, RedisGuard, RedisChannels] },
    {
      provide: CoalesceStage,
      useFactory: (...parts: ConstructorParameters<typeof CoalesceStage>) => new CoalesceStage(...parts),
      inject: [ConfigStore, Clock, Metrics, Neighbours],
    },
  ],
  exports: [CoalesceStage],
})
export class CoalescingModule {}
