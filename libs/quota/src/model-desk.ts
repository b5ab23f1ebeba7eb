import { PRIORITIES } from '@spillway/contracts';
import { byPriority } from './by-priority';
import { bookable, judge, usage, type Ask, type LimitRefusal } from './law';
import type { Binding, Terms } from './limits';
import type { Lesson } from './learned';
import { ModelUse, type Booking } from './model-use';
import type { ModelReport } from './permits';
import { WaitList, type Wait } from './wait-list';

/** Whom a model serves next: a wait that may go now, or else until when nobody may unless a call ends. */
export type Candidate = { readonly wait: Wait } | { readonly wait: null; readonly until: number };

const LOWEST_RANK = PRIORITIES.length - 1;

/** One model with its use and its waits. */
export class ModelDesk {
  readonly use = new ModelUse();
  readonly waits = new WaitList();
  /** Those of the waits that a worker has reached. */
  readonly reached = new WaitList();

  constructor(
    readonly name: string,
    private readonly termsOf: (model: string) => Terms,
  ) {}

  /** Nobody calls or waits, and nothing has to be remembered: no use of a limit, nothing learned. */
  get forgettable(): boolean {
    return !this.terms.limited && !this.terms.climb && this.use.idle && this.waits.first() === undefined;
  }

  private get terms(): Terms {
    return this.termsOf(this.name);
  }

  /** Moves the use on to `now`. */
  at(now: number): ModelUse {
    this.use.advance(this.terms, now);
    return this.use;
  }

  /** What keeps a call from going at once: `order`, if others of the same or a higher class wait, or a limit. */
  refusalAtOnce(wait: Wait, now: number): Binding | 'order' | null {
    const top = this.waits.first();
    if (top !== undefined && top.rank <= wait.rank) return 'order';
    return this.judge(wait, now)?.limit ?? null;
  }

  /** Whether there is room for a call that nobody needs: no one waits, and even the lowest class may have more by its share. */
  hasSpare(tokens: number, now: number): boolean {
    return this.waits.first() === undefined && this.judge({ rank: LOWEST_RANK, tokens }, now, 'share') === null;
  }

  /**
   * Milliseconds until its limits may admit a call, as far as time alone tells (0: now, or when a call ends), and until
   * they can at the earliest: where a provider asked to be left alone, or has had its calls of a minute, nothing else frees
   * them.
   */
  freeIn(wait: Wait, now: number): { readonly likely: number; readonly surely: number } {
    const refusal = this.judge(wait, now);
    const likely = msUntil(refusal, now) ?? 0;
    return { likely, surely: Math.max(this.use.restMs, refusal?.limit === 'rpm' ? likely : 0) };
  }

  take(wait: Wait, now: number): Booking {
    const { terms } = this;
    const booking = this.at(now).take(wait.rank, bookable(terms, wait.tokens), terms.climb);
    this.use.bookCredits(wait.rank, terms.min_share, rank => this.waits.first(rank) !== undefined);
    return booking;
  }

  /** Books a call under way with so many tokens instead. */
  rebook(booking: Booking, tokens: number, now: number): Booking {
    return this.at(now).rebook(booking, bookable(this.terms, tokens));
  }

  /** Takes in what the answer of a call has told. */
  learn(booking: Booking, lesson: Lesson, now: number): void {
    this.at(now).learn(this.terms, booking, lesson);
  }

  next(now: number): Candidate {
    for (let rank = LOWEST_RANK; rank > 0; rank--) {
      const owed = (this.use.credit[rank] ?? 0) >= 1 ? this.reached.first(rank) : undefined;
      if (owed !== undefined && this.judge(owed, now, 'guarantee') === null) return { wait: owed };
    }
    const top = this.waits.first();
    if (top === undefined) return { wait: null, until: Infinity };
    const wait = this.reached.first(top.rank);
    if (wait === undefined) return { wait: null, until: top.turnBy };
    const refusal = this.judge(wait, now);
    return refusal === null ? { wait } : { wait: null, until: Math.min(refusal.at ?? Infinity, top.turnBy) };
  }

  report(now: number): ModelReport {
    const best = this.waits.first();
    const refusal = best === undefined ? null : this.judge(best, now);
    const { terms } = this;
    const use = this.at(now);
    return {
      limits: usage(terms, use),
      waiting: byPriority(rank => this.waits.count(rank)),
      binds: refusal && { limit: refusal.limit, inMs: msUntil(refusal, now) },
      learned: (terms.climb && use.learned?.report(terms.climb, use.time)) ?? null,
    };
  }

  private judge({ rank, tokens }: Ask, now: number, only?: Ask['only']): LimitRefusal | null {
    const verdict = judge(this.terms, this.at(now), { rank, tokens, only });
    return verdict.admitted ? null : verdict;
  }
}

function msUntil(refusal: LimitRefusal | null, now: number): number | null {
  return refusal === null || refusal.at === null ? null : Math.max(0, Math.ceil(refusal.at - now));
}
