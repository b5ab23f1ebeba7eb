import type { Clock } from '@spillway/contracts';
import { JudgeDesk } from '../../libs/cache/src/trust/judge-desk';
import { MemoryJudgementLog } from '../../libs/cache/src/trust/judgement-log';
import { ReuseDesk } from '../../libs/cache/src/trust/reuse-desk';
import { MemoryReuses } from '../../libs/cache/src/trust/reuses';
import { Trust, type KeptQuestion } from '../../libs/cache/src/trust/trust';

type Judge = (asked: string, kept: string) => boolean;

interface Judged {
  readonly clock: Clock;
  readonly forget?: (question: KeptQuestion) => void;
  /** Default: nobody judges. */
  readonly judge?: Judge;
}

/** What a semantic tier learns from a judge that a test is, who is not asked about what the guard lets through. */
export function reuseDesk({ clock, forget = () => undefined, judge }: Judged): ReuseDesk {
  const log = new MemoryJudgementLog();
  const trust = new Trust(log, () => ({ errors: 0.05, judgeError: 0 }), forget);
  const sameAnswer = async (_: string, [asked, kept]: readonly [string, string]) => judge?.(asked, kept) ?? null;
  const settings = () => ({ model: judge ? 'judge' : null, hits: 0, per_minute: 1_000_000 });
  const desk = new JudgeDesk({ sameAnswer }, log, settings, clock, { debug: () => undefined });
  return new ReuseDesk(trust, desk, log, new MemoryReuses());
}
