import { Module } from '@nestjs/common';
import { BullModule } from '@nestjs/bullmq';
import { PRIORITIES } from '@spillway/contracts';
import { RedisConnections } from '@spillway/redis';
import { QUEUE_OPTIONS, bullPrefix } from './ticket-queues';

/** The BullMQ queues. Loaded only where Redis is configured: a queue connects as soon as it exists. */
@Module({
  imports: [
    BullModule.forRootAsync({
      inject: [RedisConnections],
      useFactory: (connections: RedisConnections) => ({
        connection: connections.get('commands'),
        prefix: bullPrefix(connections.prefix),
        ...QUEUE_OPTIONS,
      }),
    }),
    BullModule.registerQueue(...PRIORITIES.map(name => ({ name }))),
  ],
})
export class QueuesModule {}
