import {
  assembleCompletion,
  partsOf,
  wholePart,
  type AnswerPart,
  type AnswerParts,
  type Call,
  type Clock,
  type Journal,
  type JsonObject,
  type ModelSettings,
  type Turn,
  type TurnEnd,
  type Usage,
} from '@spillway/contracts';
import { AnswerSample, type Finding, type Outcome } from '@spillway/health';
import { UpstreamFailure, hasContent, observedLimits, type UpstreamAnswer } from '@spillway/providers';
import { sizeOf } from '@spillway/quota';
import type { UpstreamCall } from '@spillway/telemetry';
import type { GivenAnswer } from './answer-quality';
import { endOf, findingOf, NOTHING, Outrun, statusOf, usageOf, wasRefused } from './attempt-end';
import { observedIn, type Seen } from './observed';

/** What an attempt reports to; a part of the metrics. */
export interface UpstreamMeter {
  upstream(call: UpstreamCall): void;
}

/** What an attempt reports to of how its model is; a part of its health. */
export interface HealthDesk {
  report(model: string, outcome: Outcome): void;
}

/** What an attempt asks how good its answer was. */
export interface QualityDesk {
  weigh(call: Call, model: ModelSettings, answer: GivenAnswer): number;
  empty(call: Call, model: ModelSettings): boolean;
}

interface Desks {
  readonly meter: UpstreamMeter;
  readonly health: HealthDesk;
  readonly quality: QualityDesk;
}

/** What an attempt is to a call for which a second model may be asked as well. */
export interface Lane {
  /** The size that was expected of the call; null: how long it takes tells nothing, as only quick ones see their end. */
  readonly foreseen: string | null;
  /** The first content is there: it is decided who answers, before anything else happens. */
  onContent(): void;
}

/**
 * One call of one model under one turn. It ends exactly once, on whatever path: the journal knows how long it took, and
 * the turn is closed and the call counted; after an answer one turn of the event loop later.
 */
export class Attempt {
  private readonly startedAt: number;
  private firstContentAt: number | null = null;
  private usage: Usage | null = null;
  private seen: Seen | null = null;
  private ended = false;
  private isOutrun = false;
  private readonly sample: AnswerSample | null;

  constructor(
    private readonly call: Call,
    private readonly turn: Turn,
    private readonly clock: Clock,
    private readonly desks: Desks,
    private readonly lane: Lane | null = null,
  ) {
    this.sample = call.operation === 'chat' ? new AnswerSample() : null;
    this.startedAt = clock.now();
    call.journal.attempts += 1;
  }

  /** Resolves with the parts of the answer once the point of no return is reached: nothing was shown before it. */
  async open(request: () => Promise<UpstreamAnswer>): Promise<AnswerParts> {
    try {
      const { parts, headers } = await request();
      const at = this.clock.now();
      this.seen = { limits: observedLimits(headers, at), at };
      const source = parts[Symbol.asyncIterator]();
      if (!this.call.streaming) return partsOf(await this.collect(source));
      const head = await this.readToContent(source);
      this.arrive();
      return this.follow(head, source);
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Another model has answered: whoever aborts the request calls this first, as nobody waits for its end. */
  outrun(): void {
    this.isOutrun = !this.ended;
    this.fail(new Outrun());
  }

  private arrive(): void {
    if (this.isOutrun) throw new Outrun();
    this.lane?.onContent();
  }

  private async readToContent(source: AsyncIterator<AnswerPart>): Promise<AnswerPart[]> {
    const head: AnswerPart[] = [];
    for (;;) {
      const { done, value } = await source.next();
      if (done === true) return head;
      this.note(value);
      head.push(value);
      if (this.firstContentAt !== null) return head;
    }
  }

  private async collect(source: AsyncIterator<AnswerPart>): Promise<AnswerPart> {
    const chunks: JsonObject[] = [];
    let whole: AnswerPart | null = null;
    while (whole === null) {
      const { done, value } = await source.next();
      if (done === true) break;
      this.note(value);
      if (value.kind === 'whole') whole = value;
      else chunks.push(value.body);
    }
    this.arrive();
    this.end('success', '200');
    return whole ?? wholePart(assembleCompletion(chunks).body);
  }

  /** An iterator by hand: leaving it must cancel the source even before the first part was taken from it. */
  private follow(head: readonly AnswerPart[], source: AsyncIterator<AnswerPart>): AsyncIterable<AnswerPart> {
    let position = 0;
    const next = async (): Promise<IteratorResult<AnswerPart>> => {
      const ready = head[position];
      if (ready !== undefined) {
        position += 1;
        return { done: false, value: ready };
      }
      try {
        const result = await source.next();
        if (result.done === true) this.end('success', '200');
        else this.note(result.value);
        return result;
      } catch (error) {
        this.fail(error);
        throw error;
      }
    };
    const leave = async (): Promise<IteratorResult<AnswerPart>> => {
      this.end('ignored', 'aborted');
      await source.return?.();
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
  }

  private note(part: AnswerPart): void {
    if (this.firstContentAt === null && (part.kind === 'whole' || hasContent(part.body))) {
      this.firstContentAt = this.clock.now();
    }
    this.sample?.add(part);
    this.usage = usageOf(part.body) ?? this.usage;
  }

  /** Calls are compared with those of their size only, which is not known without their usage. */
  private latency(usage: Usage | null, ms: number): Outcome['latency'] {
    const isTold = usage !== null && (this.lane === null || this.lane.foreseen !== null);
    return isTold ? { size: sizeOf(this.call, usage, 0), ms } : null;
  }

  private foreseen(ms: number): Outcome['latency'] {
    const size = this.lane?.foreseen ?? null;
    return size === null ? null : { size, ms };
  }

  /** Without an answer there is no usage; after a refusal nothing was used, which is more than not known. */
  private fail(error: unknown): void {
    const failure = error instanceof UpstreamFailure ? error : null;
    this.end(endOf(failure), statusOf(error), wasRefused(error) ? NOTHING : this.usage, failure);
  }

  private end(end: TurnEnd, status: string, used = this.usage, failure: UpstreamFailure | null = null): void {
    if (this.ended) return;
    this.ended = true;
    const now = this.clock.now();
    const { journal, streaming } = this.call;
    const firstContentMs = streaming && this.firstContentAt !== null ? this.firstContentAt - this.startedAt : null;
    const ms = now - this.startedAt;
    // The call came to what the other model made of it.
    if (!this.isOutrun)
      Object.assign(journal, { upstreamMs: ms, firstContentMs, usage: used } satisfies Partial<Journal>);
    journal.note({
      kind: 'attempt',
      model: this.turn.model.name,
      status,
      failure: failure?.kind ?? null,
      ms,
      firstContentMs,
      retryAfterMs: failure?.retryAfterMs ?? null,
      tokens: used,
    });
    const settle = (): void => {
      this.turn.close(end, used, observedIn(this.seen, failure, now));
      this.reportHealth(end, now, used, failure);
      this.count(status, ms, firstContentMs);
    };
    // The reader of an answer first; after a failure the next model is asked, which may depend on it.
    if (end === 'success') setImmediate(settle);
    else settle();
  }

  private count(status: string, ms: number, firstContentMs: number | null): void {
    const { model } = this.turn;
    this.desks.meter.upstream({
      model: model.metric_label,
      provider: model.provider.name,
      operation: this.call.operation,
      status,
      seconds: ms / 1000,
      firstContentSeconds: firstContentMs === null ? null : firstContentMs / 1000,
      usage: this.usage,
      price: model.price ?? null,
    });
  }

  private reportHealth(end: TurnEnd, at: number, used: Usage | null, failure: UpstreamFailure | null): void {
    const { call, startedAt, firstContentAt, sample } = this;
    const { model } = this.turn;
    const { health, quality } = this.desks;
    const begun = call.streaming ? (firstContentAt ?? startedAt) : startedAt;
    const tookMs = (end === 'success' && call.streaming && firstContentAt !== null ? firstContentAt : at) - startedAt;
    const report = (finding: Finding): void =>
      health.report(model.name, {
        startedAt,
        at,
        finding,
        operation: call.operation,
        retryAfterMs: failure?.retryAfterMs ?? null,
        latency: end === 'success' ? this.latency(used, tookMs) : null,
        foreseen: end === 'success' || this.isOutrun ? this.foreseen(tookMs) : null,
      });
    if (this.isOutrun) return report({ kind: 'outrun' });
    if (failure?.kind === 'empty' && !quality.empty(call, model)) return report({ kind: 'untold' });
    if (end !== 'success' || sample === null) return report(findingOf(end, failure));
    const answer = { sample, outputTokens: used?.output ?? null, writingMs: at - begun };
    report({ kind: 'counted', weight: quality.weigh(call, model, answer) });
  }
}
