import { setTimeout as sleep } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { AdmissionModule, Gatekeeper } from '@spillway/admission';
import { CacheModule, SimilarQuestions } from '@spillway/cache';
import { ConfigStore } from '@spillway/config';
import { Errands, type Caller } from '@spillway/contracts';
import { JobQueues, JobsModule } from '@spillway/jobs';
import { RedisConnections, RedisGuard } from '@spillway/redis';
import { Scheduling, SchedulingModule } from '@spillway/scheduling';
import { Planter } from './planter';
import { RedisSeedLines } from './redis-seed-lines';
import { SeedJob, type SeedSettings } from './seed-job';
import { MemorySeedLines, SeedLines } from './seed-lines';
import { Seeds, type SeedRules } from './seeds';

/** Texts of seeds that one process works on at the same time. */
const TEXTS = 2;
const LOOK_AGAIN_MS = 250;

function seedLines(connections: RedisConnections | null, guard: RedisGuard | null): SeedLines {
  if (connections === null || guard === null) return new MemorySeedLines();
  return new RedisSeedLines(connections.get('commands'), guard, connections.prefix);
}

function rulesOf(config: ConfigStore, gatekeeper: Gatekeeper): SeedRules {
  return {
    caller: key => exempt(gatekeeper.named(key)),
    route: name => config.current.target(name),
    onlyRoute: () => {
      const [first, ...more] = config.current.routes.keys();
      return first !== undefined && more.length === 0 ? first : null;
    },
    limits: () => ({ all: config.current.seeding.body_limit, line: config.current.server.body_limit }),
    concurrency: () => config.current.seeding.concurrency,
  };
}

/** What the callers of a key may use is for them. */
function exempt(caller: Caller | null): Caller | null {
  return caller && { ...caller, exempt: true };
}

/** Resolves when no call of a higher class waits for its turn; while nobody knows, the classes see to the order. */
function quietOf(scheduling: Pick<Scheduling, 'depths'>): SeedSettings['quiet'] {
  const isBusy = async (): Promise<boolean> => {
    const depths = await scheduling.depths().catch(() => null);
    return depths !== null && depths.critical + depths.normal > 0;
  };
  return async signal => {
    while (await isBusy()) await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  };
}

interface SeedParts {
  readonly queues: JobQueues;
  readonly lines: SeedLines;
  readonly errands: Errands;
  readonly rules: SeedRules;
  readonly quiet: SeedSettings['quiet'];
  readonly config: ConfigStore;
  readonly questions: SimilarQuestions;
}

function seedsOf({ queues, lines, errands, rules, quiet, config, questions }: SeedParts): Seeds {
  const job = new SeedJob(lines, new Planter(errands, config, questions), {
    caller: key => rules.caller(key),
    concurrency: () => rules.concurrency(),
    quiet,
  });
  return new Seeds(
    queues.open('seed', job, () => TEXTS),
    lines,
    errands,
    rules,
  );
}

/** Filling the caches beforehand: texts of seeds become jobs, which any process that works takes up. */
@Module({
  imports: [AdmissionModule, CacheModule, JobsModule, SchedulingModule],
  providers: [
    { provide: SeedLines, useFactory: seedLines, inject: [RedisConnections, RedisGuard] },
    {
      provide: Seeds,
      useFactory: (
        queues: JobQueues,
        lines: SeedLines,
        errands: Errands,
        config: ConfigStore,
        gatekeeper: Gatekeeper,
        scheduling: Scheduling,
        questions: SimilarQuestions,
      ) =>
        seedsOf({
          queues,
          lines,
          errands,
          rules: rulesOf(config, gatekeeper),
          quiet: quietOf(scheduling),
          config,
          questions,
        }),
      inject: [JobQueues, SeedLines, Errands, ConfigStore, Gatekeeper, Scheduling, SimilarQuestions],
    },
  ],
  exports: [Seeds],
})
export class SeedingModule {}
