import type { Observed, TurnEnd } from '@spillway/contracts';
import { Climber, type ClimbReason } from './climber';
import type { ClimbTerms, LearnedLimit, Terms } from './limits';
import { ObservedWindow, type ObservedUse } from './observed-window';

/** The longest rest that a provider can ask for, ms. */
const LONGEST_REST_MS = 3_600_000;

/** How a call ended, as far as it teaches anything. */
export interface Lesson {
  readonly end: TurnEnd;
  readonly observed?: Observed | undefined;
}

/** What is kept of a call, to understand its answer. */
export interface Sent {
  readonly call: number;
  readonly tokens: number;
  /** By bucket: what had gone out with it, and what our own window held. */
  readonly sent: { readonly requests: number; readonly tokens: number };
  readonly known: { readonly requests: number; readonly tokens: number };
}

interface LearnedRefusal {
  readonly limit: LearnedLimit;
  readonly at: number;
}

/** What was learned of a model, for those who look. */
export interface LearnedReport {
  readonly mode: ClimbTerms['mode'];
  /** Calls a second; null: no ceiling. */
  readonly rate: number | null;
  /** Why the rate is what it is; null: nothing has happened yet. */
  readonly why: ClimbReason | null;
  /** Milliseconds for which the provider asked to be left alone. */
  readonly restMs: number;
  /** What a provider said of its buckets, as far as it is news and until their reset. */
  readonly observed: Readonly<Partial<Record<'requests' | 'tokens', ObservedUse>>>;
}

/** What the answers of a model have taught about its limits. */
export class Learned {
  readonly climber = new Climber();
  readonly requests = new ObservedWindow();
  readonly tokens = new ObservedWindow();
  private restUntil = 0;

  /** For how many ms the provider wants to be left alone. */
  restMs(time: number): number {
    return Math.max(0, this.restUntil - time);
  }

  /** Null: nothing learned refuses a call of so many tokens. */
  refusal(climb: ClimbTerms, tokens: number, time: number): LearnedRefusal | null {
    if (time < this.restUntil) return { limit: 'retry-after', at: this.restUntil };
    const requests = this.requests.refusedUntil(1, time);
    if (requests !== null) return { limit: 'observed-requests', at: requests };
    const most = this.tokens.refusedUntil(tokens, time);
    if (most !== null) return { limit: 'observed-tokens', at: most };
    const at = this.climber.refusedUntil(climb, time);
    return at === null ? null : { limit: 'climb', at };
  }

  take(climb: ClimbTerms, tokens: number, known: Sent['known'], time: number): Sent {
    const call = this.climber.take(climb, time);
    this.requests.take(1);
    this.tokens.take(tokens);
    return { call, tokens, known, sent: { requests: this.requests.sent, tokens: this.tokens.sent } };
  }

  /** A call has ended; `surplus`: tokens above its booking. */
  settle(call: number, surplus: number): void {
    this.tokens.correct(call, surplus);
  }

  cancel(call: number): void {
    this.climber.cancel();
    this.requests.correct(call, -1);
  }

  learn(terms: Terms, climb: ClimbTerms, sent: Sent, { end, observed }: Lesson, time: number): void {
    this.climber.step(climb, time);
    const overload = observed?.overload ?? null;
    if (end === 'dropped') this.climber.fail(climb, time, sent.call, overload !== null, overload === 'slope');
    if (observed === undefined) return;
    const { retryAfterMs, limits } = observed;
    if (retryAfterMs !== null) {
      this.restUntil = Math.max(this.restUntil, time + Math.ceil(Math.min(retryAfterMs, LONGEST_REST_MS)));
    }
    for (const bucket of ['requests', 'tokens'] as const) {
      const told = limits?.[bucket];
      if (told === undefined) continue;
      const amount = bucket === 'requests' ? 1 : sent.tokens;
      const witness = { call: sent.call, amount, sent: sent.sent[bucket], known: sent.known[bucket] };
      this[bucket].observe(told, witness, bucket === 'requests' ? terms.rpm : terms.tpm, time);
    }
  }

  report(climb: ClimbTerms, time: number): LearnedReport {
    const [requests, tokens] = [this.requests.use(time), this.tokens.use(time)];
    return {
      mode: climb.mode,
      rate: this.climber.ceiling(climb),
      why: this.climber.why,
      restMs: this.restMs(time),
      observed: { ...(requests && { requests }), ...(tokens && { tokens }) },
    };
  }
}
