import { Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { Explainer } from './explainer';
import { Explanations } from './explanations';

/** What the calls of either kind take at most, however many are to be kept. */
const MOST_BYTES = 32 * 1024 * 1024;

type Maybe<Part> = Part | null;

function explainer(own: Explanations, ...redis: [Maybe<RedisConnections>, Maybe<RedisGuard>, Maybe<RedisChannels>]) {
  const [connections, guard, channels] = redis;
  const isAlone = connections === null || guard === null || channels === null;
  return new Explainer(own, isAlone ? null : { connections, guard, channels });
}

/** Why calls went where they went. */
@Module({
  providers: [
    {
      provide: Explanations,
      useFactory: (config: ConfigStore, clock: Clock) =>
        new Explanations({ entries: config.current.admin.explain_entries, bytes: MOST_BYTES }, clock),
      inject: [ConfigStore, Clock],
    },
    {
      provide: Explainer,
      useFactory: explainer,
      inject: [Explanations, RedisConnections, RedisGuard, RedisChannels],
    },
  ],
  exports: [Explanations, Explainer],
})
export class ExplainModule {}
