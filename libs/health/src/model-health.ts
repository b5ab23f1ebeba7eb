import { Recoveries, type Clock } from '@spillway/contracts';
import { usualOf } from './baselines';
import { errorRate, isProbeDue, withProbe } from './breaker';
import { afterAnswers, failsCanary, isCanaryDue, withCanaryClaim, type CanaryAnswers } from './canary/canary-answers';
import type { HealthStore } from './health-store';
import { isChange, ModelCopy, type Sent } from './model-copy';
import { freshRecord, type BreakerSettings, type HealthState, type ModelRecord } from './model-record';
import type { Outcome } from './outcome';

/** The configuration as it is now. */
export interface HealthSettings {
  /** Undefined: not configured; of such a model nothing is kept. */
  breakerOf(model: string): BreakerSettings | undefined;
}

/** Hears of the changes that this process has made for all, so that one process tells of each. */
type ChangeListener = (model: string, before: ModelRecord, after: ModelRecord) => void;

/** How a model is, as this process knows it. */
export interface HealthView {
  readonly state: HealthState;
  readonly paused: boolean;
}

/** A change of a record that may not be possible any more (null). */
type Edit = (record: ModelRecord) => ModelRecord | null;

const TRIES = 5;
/** Clocks that differ by less count as equal: an estimate that moved with every answer would blur what came first. */
const CLOCK_SKEW_MS = 50;

/**
 * The health of all models: decided in this process by a copy that costs a look into a map, shared with the others by
 * moves that are made only where the record is still as it was.
 */
export class ModelHealth extends Recoveries {
  private readonly copies = new Map<string, ModelCopy>();
  private readonly listeners = new Set<ChangeListener>();
  /** What the clock of all is ahead of the one of this process, ms. */
  private ahead = 0;
  private exchanging: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: HealthStore,
    private readonly settings: HealthSettings,
    private readonly clock: Clock,
  ) {
    super();
  }

  /** Milliseconds since the epoch, by the clock that all processes share. */
  now(): number {
    return this.clock.now() + this.ahead;
  }

  /** Null: nothing is known, or it is not configured. */
  viewOf(model: string): HealthView | null {
    const record = this.copies.get(model)?.record;
    return record === undefined ? null : { state: record.state, paused: record.pausedSince !== null };
  }

  /** Null: it is well or down. */
  since(model: string): number | null {
    const state = this.copies.get(model)?.record.state;
    return state?.kind === 'half-open' ? state.since : null;
  }

  /** All that is known of a configured model. */
  recordOf(model: string): ModelRecord {
    return this.copies.get(model)?.record ?? freshRecord(this.now());
  }

  /** The share of the calls in its window that failed, 0 to 1. */
  errorRateOf(model: string): number {
    const settings = this.settings.breakerOf(model);
    const record = this.copies.get(model)?.record;
    return settings === undefined || record === undefined ? 0 : errorRate(record, this.now(), settings);
  }

  /** About the 95th percentile of the latency of its calls of a size, ms; null: too few are known. */
  usualMs(model: string, size: string): number | null {
    const record = this.copies.get(model)?.record;
    return record === undefined ? null : usualOf(record.baselines, size);
  }

  onChange(listener: ChangeListener): void {
    this.listeners.add(listener);
  }

  /** Takes in how a call ended, with the times of this process. A change of state is shared at once, the rest soon. */
  report(model: string, outcome: Outcome): void {
    const settings = this.settings.breakerOf(model);
    if (settings === undefined) return;
    const copy = this.copyOf(model);
    const before = copy.record.state.kind;
    const { startedAt, at } = outcome;
    copy.add({ ...outcome, startedAt: startedAt + this.ahead, at: at + this.ahead }, settings);
    if (copy.record.state.kind !== before) void this.flush();
  }

  /** Whether a probe of the model is due; see `claimProbe`. */
  isProbeDue(model: string): boolean {
    const copy = this.copies.get(model);
    return copy !== undefined && isProbeDue(copy.record, this.now());
  }

  /** Takes the probe of a model for this process, for `longestMs` or until its outcome; false: somebody else has it. */
  async claimProbe(model: string, longestMs: number): Promise<boolean> {
    return this.edit(model, record => withProbe(record, this.now(), longestMs));
  }

  /** Whether the canary questions should be put to a model: it is used, and it is time. */
  isCanaryDue(model: string): boolean {
    return isCanaryDue(this.recordOf(model), this.now());
  }

  /** Takes the canary questions of a model for this process, for `longestMs` or until they are answered. */
  async claimCanary(model: string, longestMs: number): Promise<boolean> {
    return this.edit(model, record => withCanaryClaim(record, this.now(), longestMs), true).catch(() => false);
  }

  /** Takes in how a model answered its canary questions. */
  async tellCanary(model: string, answers: CanaryAnswers): Promise<void> {
    await this.edit(model, record => ({ ...record, canary: afterAnswers(record.canary, answers, this.now()) }));
  }

  /** Whether a model answered its canary questions badly the last time, which counts against all its answers. */
  failsCanary(model: string): boolean {
    const canary = this.copies.get(model)?.record.canary;
    return canary !== undefined && canary !== null && failsCanary(canary, this.now());
  }

  /** @throws RedisUnavailable while what processes share cannot be changed. */
  async pause(model: string): Promise<void> {
    await this.edit(model, record => ({ ...record, pausedSince: record.pausedSince ?? this.now() }), true);
  }

  /** @throws RedisUnavailable */
  async resume(model: string): Promise<void> {
    await this.edit(model, record => ({ ...record, pausedSince: null }), true);
  }

  /** Forgets how its calls went; @throws RedisUnavailable */
  async reset(model: string): Promise<void> {
    await this.edit(model, ({ pausedSince }) => ({ ...freshRecord(this.now()), pausedSince }), true);
  }

  /** Shares what is new; while that is not possible this process goes on alone. Never fails. */
  flush(): Promise<void> {
    return this.inTurn(async () => {
      this.forgetRemoved();
      const news = [...this.copies.values()].filter(copy => copy.hasNews);
      if (news.length === 0) return;
      try {
        await this.send(news);
      } catch {
        for (const copy of news) this.tell(copy, copy.goOnAlone());
      }
    });
  }

  /** Takes over what others know. Never fails. */
  async refresh(): Promise<void> {
    await this.inTurn(async () => {
      const askedAt = this.clock.now();
      const known = await this.store.read().catch(() => null);
      if (known === null) return;
      this.setTime(known.now, askedAt);
      for (const copy of this.copies.values()) if (!known.records.has(copy.model)) copy.restore();
      for (const [model, { version, record }] of known.records) {
        const settings = this.settings.breakerOf(model);
        if (settings === undefined) continue;
        this.copyOf(model).take(version, record, settings);
      }
    });
  }

  /** What is configured no more has nothing to share; should it come back, the store knows how it was. */
  private forgetRemoved(): void {
    for (const model of this.copies.keys()) if (this.settings.breakerOf(model) === undefined) this.copies.delete(model);
  }

  private async send(copies: readonly ModelCopy[]): Promise<void> {
    let left = copies;
    for (let tries = 0; tries < TRIES && left.length > 0; tries++) {
      const sent = left.map(copy => copy.move());
      const made = await this.exchange(left, sent);
      left = left.filter((_, index) => made[index] === false);
    }
  }

  private async edit(model: string, edit: Edit, mustShare = false): Promise<boolean> {
    return this.inTurn(async () => {
      const copy = this.copyOf(model);
      for (let tries = 0; tries < TRIES; tries++) {
        const next = edit(copy.record);
        if (next === null) return false;
        try {
          const [made = false] = await this.exchange([copy], [copy.move(next)]);
          if (made) return true;
        } catch (error) {
          if (mustShare) throw error;
          copy.record = next;
          this.tell(copy, copy.goOnAlone());
          return true;
        }
      }
      return false;
    });
  }

  /** Returns for each move whether it was made. */
  private async exchange(copies: readonly ModelCopy[], sent: readonly Sent[]): Promise<readonly boolean[]> {
    const askedAt = this.clock.now();
    const { now, kept } = await this.store.exchange(sent.map(({ move }) => move));
    this.setTime(now, askedAt);
    return copies.map((copy, index) => {
      const settings = this.settings.breakerOf(copy.model);
      const [one, result] = [sent[index], kept[index]];
      if (settings === undefined || one === undefined || result === undefined) return true;
      const before = copy.settle(one, result, settings);
      if (before !== null) this.tell(copy, before, one.move.record);
      return before !== null;
    });
  }

  /** Tells of a change that this process has made for all. */
  private tell(copy: ModelCopy, before: ModelRecord, after = copy.record): void {
    if (isChange(before, after)) for (const listener of this.listeners) listener(copy.model, before, after);
  }

  private copyOf(model: string): ModelCopy {
    const known = this.copies.get(model);
    if (known !== undefined) return known;
    const copy = new ModelCopy(model, freshRecord(this.now()));
    this.copies.set(model, copy);
    return copy;
  }

  /** The answer was written somewhere between the question and now. */
  private setTime(now: number, askedAt: number): void {
    const answeredAt = this.clock.now();
    const ahead = Math.round(now - (askedAt + answeredAt) / 2);
    if (Math.abs(ahead - this.ahead) > CLOCK_SKEW_MS + (answeredAt - askedAt)) this.ahead = ahead;
  }

  /** One exchange at a time: a second would not know what the first has changed. */
  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const before = this.exchanging;
    let done = (): void => undefined;
    this.exchanging = new Promise(resolve => (done = resolve));
    await before;
    try {
      return await work();
    } finally {
      done();
    }
  }
}
