import type { BeforeApplicationShutdown } from '@nestjs/common';
import { ShuttingDown, type Clock } from '@spillway/contracts';
import type { Logger } from '@spillway/telemetry';
import type { Judgement } from './experience';
import type { JudgementLog } from './judgement-log';
import type { ModelJudge } from './model-judge';

/** A question beside a kept one, to be judged. */
export interface Pair extends Omit<Judgement, 'same'> {
  readonly route: string;
  /** Of the kept question. */
  readonly partition: string;
  /** What was asked, and what had been asked. */
  readonly texts: readonly [string, string];
}

export interface JudgeSettings {
  /** The route or model that is asked; null: none. */
  readonly model: string | null;
  /** Share of what the guard lets through that is judged. */
  readonly hits: number;
  /** Questions to the model at most, of this process. */
  readonly per_minute: number;
}

/** Pairs that wait for the judge; more are not worth their age. */
const MOST_WAITING = 200;
const MINUTE_MS = 60_000;

/**
 * Has pairs judged in the background, one at a time and only so many a minute: all of them, or a sample. What does not
 * fit is not judged.
 */
export class JudgeDesk implements BeforeApplicationShutdown {
  private readonly waiting: Pair[] = [];
  private readonly leaving = new AbortController();
  private working = false;
  private minute = { since: 0, asked: 0 };

  constructor(
    private readonly judge: Pick<ModelJudge, 'sameAnswer'>,
    private readonly judgements: Pick<JudgementLog, 'append'>,
    private readonly settings: () => JudgeSettings,
    private readonly clock: Clock,
    private readonly log: Pick<Logger, 'debug'>,
  ) {}

  /** Whether anything is judged at all; without, nobody need weigh anything. */
  get isOpen(): boolean {
    return this.settings().model !== null;
  }

  /** As many of them as there is room for. */
  all(pairs: readonly Pair[]): void {
    for (const pair of pairs) this.take(pair);
  }

  /** A pair of which only a share is judged; it is asked for where it is in the sample. */
  sampled(pair: () => Pair): void {
    if (Math.random() < this.settings().hits) this.take(pair());
  }

  beforeApplicationShutdown(): void {
    this.waiting.length = 0;
    this.leaving.abort(new ShuttingDown('This process is shutting down.'));
  }

  private take(pair: Pair): void {
    if (!this.isOpen || this.waiting.length >= MOST_WAITING || this.leaving.signal.aborted) return;
    if (!this.mayAsk()) return;
    this.waiting.push(pair);
    if (!this.working) void this.work();
  }

  private mayAsk(): boolean {
    const now = this.clock.now();
    if (now - this.minute.since >= MINUTE_MS) this.minute = { since: now, asked: 0 };
    this.minute.asked += 1;
    return this.minute.asked <= this.settings().per_minute;
  }

  private async work(): Promise<void> {
    this.working = true;
    for (let pair = this.waiting.shift(); pair !== undefined; pair = this.waiting.shift()) await this.ask(pair);
    this.working = false;
  }

  private async ask({ texts, ...pair }: Pair): Promise<void> {
    const { model } = this.settings();
    if (model === null) return;
    try {
      const same = await this.judge.sameAnswer(model, texts, this.leaving.signal);
      if (same !== null) this.judgements.append({ ...pair, same, source: 'model' });
    } catch (error) {
      // It is a LOW call: under load there is no room for it, and nothing is lost.
      this.log.debug({ err: error, model }, 'a pair of questions was not judged');
    }
  }
}
