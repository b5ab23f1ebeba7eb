import type { Judgement } from './experience';

/** A judgement with all that other processes must know of it. Holds no text of a question. */
export interface LoggedJudgement extends Judgement {
  readonly route: string;
  /** Of the kept question. */
  readonly partition: string;
  readonly source: 'model' | 'feedback';
}

type Listener = (judgement: LoggedJudgement) => void;

/** All judgements in one order. Never fails: trouble is a judgement less. */
export abstract class JudgementLog {
  protected listener: Listener = () => undefined;

  abstract append(judgement: LoggedJudgement): void;

  /** Tells of each judgement once, those of other processes included. */
  listen(listener: Listener): void {
    this.listener = listener;
  }
}

/** The judgements of a process on its own; forgotten with it. */
export class MemoryJudgementLog extends JudgementLog {
  append(judgement: LoggedJudgement): void {
    this.listener(judgement);
  }
}
