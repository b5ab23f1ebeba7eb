import type { Provider } from '@nestjs/common';
import { ConfigStore } from '@spillway/config';
import { Clock, Errands } from '@spillway/contracts';
import { RedisConnections, RedisGuard } from '@spillway/redis';
import { Logger } from '@spillway/telemetry';
import { SimilarQuestions } from '../similar-questions';
import { JudgeDesk } from './judge-desk';
import { JudgementLog, MemoryJudgementLog } from './judgement-log';
import { ModelJudge } from './model-judge';
import { RedisJudgementLog } from './redis-judgement-log';
import { ReuseDesk } from './reuse-desk';
import { MemoryReuses, RedisReuses, Reuses } from './reuses';
import { Trust, type KeptQuestion } from './trust';

function judgementLog(connections: RedisConnections | null, guard: RedisGuard | null): JudgementLog {
  if (connections === null || guard === null) return new MemoryJudgementLog();
  return new RedisJudgementLog(connections.get('commands'), guard, connections.prefix);
}

function reuses(connections: RedisConnections | null, guard: RedisGuard | null): Reuses {
  if (connections === null || guard === null) return new MemoryReuses();
  return new RedisReuses(connections.get('commands'), guard, connections.prefix);
}

function trust(judgements: JudgementLog, config: ConfigStore, questions: SimilarQuestions): Trust {
  const budget = () => {
    const { error_budget: errors, judge } = config.current.cache;
    return { errors, judgeError: judge.error };
  };
  const evict = (question: KeptQuestion): void => void questions.forget(question);
  return new Trust(judgements, budget, evict, route => config.current.isConfigured(route));
}

function judgeDesk(
  ...[errands, judgements, config, clock, log]: [Errands, JudgementLog, ConfigStore, Clock, Logger]
): JudgeDesk {
  const settings = () => {
    const { model = null, ...rest } = config.current.cache.judge;
    return { model, ...rest };
  };
  return new JudgeDesk(new ModelJudge(errands), judgements, settings, clock, log);
}

/** What the semantic tier learns, in this process and in Redis where one is configured. */
export const TRUST: Provider[] = [
  { provide: JudgementLog, useFactory: judgementLog, inject: [RedisConnections, RedisGuard] },
  { provide: Reuses, useFactory: reuses, inject: [RedisConnections, RedisGuard] },
  { provide: Trust, useFactory: trust, inject: [JudgementLog, ConfigStore, SimilarQuestions] },
  { provide: JudgeDesk, useFactory: judgeDesk, inject: [Errands, JudgementLog, ConfigStore, Clock, Logger] },
  {
    provide: ReuseDesk,
    useFactory: (...parts: ConstructorParameters<typeof ReuseDesk>) => new ReuseDesk(...parts),
    inject: [Trust, JudgeDesk, JudgementLog, Reuses],
  },
];
