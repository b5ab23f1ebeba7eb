import { Module } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock } from '@spillway/contracts';
import { MemoryBudgets, QuotaModule, RedisBudgets } from '@spillway/quota';
import { RedisConnections, RedisGuard, RedisUnavailable } from '@spillway/redis';
import { Logger } from '@spillway/telemetry';
import { Admissions } from './admissions';
import { AdmitCallerStage } from './admit-caller.stage';
import { CallerBudgets } from './caller-budgets';
import { CallerLimits } from './caller-limits';
import { Gatekeeper } from './gatekeeper';

function admissions(
  config: ConfigStore,
  budgets: CallerBudgets,
  clock: Clock,
  logger: Logger,
  ...[connections, guard]: [RedisConnections | null, RedisGuard | null]
): Admissions {
  const { lease_ms: leaseMs, claim_ms: claimMs } = config.current.scheduling;
  const timings = { leaseMs, claimMs };
  const redis = connections && guard && { connections, guard, logger };
  const shared = redis && { budgets: new RedisBudgets(redis, budgets, timings), guard: redis.guard };
  return new Admissions(new MemoryBudgets(budgets, clock, timings), shared, clock, timings, (problem, error) => {
    // Its loss is reported once, and elsewhere.
    if (!(error instanceof RedisUnavailable)) logger.warn({ err: error }, problem);
  });
}

@Module({
  imports: [QuotaModule],
  providers: [
    Gatekeeper,
    CallerBudgets,
    CallerLimits,
    AdmitCallerStage,
    {
      provide: Admissions,
      useFactory: admissions,
      inject: [ConfigStore, CallerBudgets, Clock, Logger, RedisConnections, RedisGuard],
    },
  ],
  exports: [Gatekeeper, AdmitCallerStage],
})
export class AdmissionModule {}
