import { Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { LocalShare, QuotaModule } from '@spillway/quota';
import { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { Metrics } from '@spillway/telemetry';
import { CoalesceStage } from './coalesce.stage';
import { Neighbours } from './neighbours';

function neighbours(
  clock: Clock,
  count: LocalShare,
  ...[connections, guard, channels]: [RedisConnections | null, RedisGuard | null, RedisChannels | null]
): Neighbours | null {
  if (connections === null || guard === null || channels === null) return null;
  return new Neighbours({ connections, guard, channels, count }, clock);
}

/** Equal calls share one answer: in this process, and among processes where Redis is configured. */
@Module({
  imports: [QuotaModule],
  providers: [
    {
      provide: Neighbours,
      useFactory: neighbours,
      inject: [Clock, LocalShare, RedisConnections, RedisGuard, RedisChannels],
    },
    {
      provide: CoalesceStage,
      useFactory: (...parts: ConstructorParameters<typeof CoalesceStage>) => new CoalesceStage(...parts),
      inject: [ConfigStore, Clock, Metrics, Neighbours],
    },
  ],
  exports: [CoalesceStage],
})
export class CoalescingModule {}
