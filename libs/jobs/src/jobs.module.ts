import { Global, Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { Logger, Metrics } from '@spillway/telemetry';
import { BullBacklog } from './bull-backlog';
import { CallJobs } from './call-jobs';
import { Callbacks } from './callbacks';
import { JobQueues, type JobStorage } from './job-queues';
import { MemoryBacklog } from './memory-backlog';
import { MemoryJobEnds } from './memory-job-ends';
import { RedisJobEnds } from './redis-job-ends';

type Redis = readonly [RedisConnections | null, RedisGuard | null, RedisChannels | null];

const JOB_STORAGE = Symbol('JobStorage');

function storage(config: ConfigStore, clock: Clock, logger: Logger, ...redis: Redis): JobStorage {
  const [connections, guard, channels] = redis;
  const ttlS = (): number => config.current.async.result_ttl_s;
  if (connections === null || guard === null || channels === null) {
    return { ends: new MemoryJobEnds(clock, ttlS), backlog: () => new MemoryBacklog(ttlS) };
  }
  return {
    ends: new RedisJobEnds({ connection: connections.get('commands'), guard }, connections.prefix, ttlS),
    backlog: kind => new BullBacklog(kind, { connections, guard, channels, logger, deadTtlS: ttlS }),
  };
}

/** Jobs: in Redis where it is configured, else in memory. Global: each lib that has a kind of job opens its queue. */
@Global()
@Module({
  providers: [
    {
      provide: JOB_STORAGE,
      useFactory: storage,
      inject: [ConfigStore, Clock, Logger, RedisConnections, RedisGuard, RedisChannels],
    },
    {
      provide: JobQueues,
      useFactory: (kept: JobStorage, config: ConfigStore, clock: Clock, metrics: Metrics, logger: Logger) =>
        new JobQueues(kept, config, clock, metrics, logger),
      inject: [JOB_STORAGE, ConfigStore, Clock, Metrics, Logger],
    },
    Callbacks,
    CallJobs,
  ],
  exports: [JobQueues, CallJobs],
})
export class JobsModule {}
