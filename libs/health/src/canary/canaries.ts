import { createHash, randomBytes } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ConfigStore, type Settings } from '@spillway/config';
import { Clock, Errands, ownCaller, ShuttingDown } from '@spillway/contracts';
import { Logger } from '@spillway/telemetry';
import { ModelHealth } from '../model-health';
import { AnswerSample } from '../quality/answer-sample';
import { bleu4 } from './bleu';
import { canaryReport, type CanaryAnswers } from './canary-answers';

type CanarySettings = Settings['health']['canary'];
type Question = CanarySettings['questions'][number];

interface Asking {
  readonly id: string;
  readonly model: string;
  readonly deadlineMs: number;
}

const LOOK_EVERY_MS = 500;
/** Times are spread by this share of their distance, so that the models of several installations are not asked at once. */
const SPREAD = 0.1;
/** The longest that all answers may take, ms; then somebody asks again. */
const LONGEST_MS = 60_000;
/** Bad answers count until the next ones, and on for as long again where those do not come. */
const COUNT_TIMES = 2;

/** No configured key has such a name. */
const CALLER = ownCaller('spillway:canary');

/** Puts questions with known answers to models that are in use, as LOW calls, one process for all. */
@Injectable()
export class Canaries implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private asking = false;
  private readonly stopped = new AbortController();

  constructor(
    private readonly config: ConfigStore,
    private readonly errands: Errands,
    private readonly health: ModelHealth,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.stopped.abort(new ShuttingDown('Spillway is shutting down.'));
  }

  /** One model after the other: the questions are no load of their own. */
  private async look(): Promise<void> {
    const { health, models } = this.config.current;
    const { every_s: everyS, models: chosen = [...models.keys()] } = health.canary;
    if (this.asking || everyS === 0) return;
    this.asking = true;
    try {
      for (const model of chosen) {
        if (this.stopped.signal.aborted) return;
        if (!this.health.isCanaryDue(model) || !(await this.health.claimCanary(model, LONGEST_MS))) continue;
        await this.examine(model, health.canary);
      }
    } finally {
      this.asking = false;
    }
  }

  /** Answers to some of the questions say nothing: their mean is that of other questions. */
  private async examine(model: string, { questions, every_s: everyS }: CanarySettings): Promise<void> {
    const lateAt = this.clock.now() + LONGEST_MS;
    const scores: { score: number; least: number }[] = [];
    const requests: string[] = [];
    for (const question of questions) {
      const id = `canary-${randomBytes(8).toString('hex')}`;
      requests.push(id);
      const deadlineMs = Math.max(1, Math.ceil(lateAt - this.clock.now()));
      const score = await this.ask({ id, model, deadlineMs }, question);
      if (score === null) return;
      scores.push({ score, least: question.min_bleu });
    }
    const asked = createHash('sha256').update(JSON.stringify(questions)).digest('hex').slice(0, 16);
    const everyMs = everyS * 1000;
    const nextInMs = everyMs * (1 + SPREAD * (2 * Math.random() - 1));
    await this.tell(model, { asked, scores, nextInMs, countMs: COUNT_TIMES * everyMs }, requests);
  }

  /** How near the answer is to the known one; null: there was none, which its call has told of already. */
  private async ask({ id, model, deadlineMs }: Asking, known: Question): Promise<number | null> {
    const { question, answer, min_bleu: least } = known;
    try {
      const { body, journal } = await this.errands.run({
        id,
        body: { model, messages: [{ role: 'user', content: question }], temperature: 0 },
        caller: CALLER,
        priority: 'low',
        headers: { 'cache-control': 'no-store', 'x-spillway-deadline-ms': String(deadlineMs) },
        // Not one for all: whoever listens to a signal may forget to stop.
        signal: AbortSignal.any([this.stopped.signal]),
      });
      const sample = new AnswerSample();
      sample.add({ body });
      const score = bleu4(sample.text, answer);
      journal.note({ kind: 'canary', model, score: Math.round(score * 1000) / 1000, least });
      return score;
    } catch (error) {
      this.logger.debug({ model, request_id: id, err: error }, 'a canary question found no answer');
      return null;
    }
  }

  private async tell(model: string, answers: CanaryAnswers, requests: readonly string[]): Promise<void> {
    const failedBefore = this.health.failsCanary(model);
    await this.health.tellCanary(model, answers);
    const { canary } = this.health.recordOf(model);
    if (canary === null) return;
    const { score, usual, failed } = canaryReport(canary, this.health.now());
    const fields = { model, score, usual, failed, request_ids: requests };
    if (failed) this.logger.warn(fields, 'a model answers its canary questions badly');
    else if (failedBefore) this.logger.info(fields, 'a model answers its canary questions well again');
    else this.logger.debug(fields, 'a model was asked its canary questions');
  }
}
