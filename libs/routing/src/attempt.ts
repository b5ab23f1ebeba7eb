import {
  assembleCompletion,
  partsOf,
  wholePart,
  type AnswerPart,
  type AnswerParts,
  type Call,
  type Clock,
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

/**
 * One call of one model under one turn. It ends exactly once, on whatever path: then the turn is closed, the call is
 * counted, and the journal knows how long it took.
 */
export class Attempt {
  private readonly startedAt: number;
  private firstContentAt: number | null = null;
  private usage: Usage | null = null;
  private seen: Seen | null = null;
  private ended = false;
  private readonly sample: AnswerSample | null;

  constructor(
    private readonly call: Call,
    private readonly turn: Turn,
    private readonly clock: Clock,
    private readonly desks: Desks,
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
      return this.follow(await this.readToContent(source), source);
    } catch (error) {
      this.fail(error);
      throw error;
    }
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
    for (;;) {
      const { done, value } = await source.next();
      if (done === true) break;
      this.note(value);
      if (value.kind === 'whole') whole = value;
      else chunks.push(value.body);
    }
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
    return usage === null ? null : { size: sizeOf(this.call, usage, 0), ms };
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
    const { journal, streaming, operation } = this.call;
    const firstContentMs = streaming && this.firstContentAt !== null ? this.firstContentAt - this.startedAt : null;
    journal.upstreamMs = now - this.startedAt;
    journal.firstContentMs = firstContentMs;
    journal.usage = used;
    journal.note({
      kind: 'attempt',
      model: this.turn.model.name,
      status,
      failure: failure?.kind ?? null,
      ms: now - this.startedAt,
      firstContentMs,
      retryAfterMs: failure?.retryAfterMs ?? null,
      tokens: used,
    });
    this.turn.close(end, used, observedIn(this.seen, failure, now));
    this.reportHealth(end, now, used, failure);
    this.desks.meter.upstream({
      model: this.turn.model.metric_label,
      provider: this.turn.model.provider.name,
      operation,
      status,
      seconds: (now - this.startedAt) / 1000,
      firstContentSeconds: firstContentMs === null ? null : firstContentMs / 1000,
      usage: this.usage,
    });
  }

  /** An answer is looked at only after its reader has it. */
  private reportHealth(end: TurnEnd, at: number, used: Usage | null, failure: UpstreamFailure | null): void {
    const { call, startedAt, firstContentAt, sample } = this;
    const { model } = this.turn;
    const { health, quality } = this.desks;
    const begun = call.streaming ? (firstContentAt ?? startedAt) : startedAt;
    const report = (finding: Finding): void =>
      health.report(model.name, {
        startedAt,
        at,
        finding,
        operation: call.operation,
        retryAfterMs: failure?.retryAfterMs ?? null,
        latency:
          end === 'success'
            ? this.latency(used, (call.streaming && firstContentAt !== null ? firstContentAt : at) - startedAt)
            : null,
      });
    if (failure?.kind === 'empty' && !quality.empty(call, model)) return report({ kind: 'untold' });
    if (end !== 'success' || sample === null) return report(findingOf(end, failure));
    const answer = { sample, outputTokens: used?.output ?? null, writingMs: at - begun };
    setImmediate(() => report({ kind: 'counted', weight: quality.weigh(call, model, answer) }));
  }
}

/** What the end of a call says about the health of its model. */
function findingOf(end: TurnEnd, failure: UpstreamFailure | null): Finding {
  if (failure === null) return end === 'success' ? { kind: 'counted', weight: 0 } : { kind: 'untold' };
  const { health } = failure;
  switch (health.effect) {
    case 'none':
      return { kind: 'untold' };
    case 'failure':
      return { kind: 'counted', weight: 1 };
    case 'bar':
      return { kind: 'barred', why: health.why };
    default:
      return health satisfies never;
  }
}

const NOTHING: Usage = { input: 0, output: 0 };

/** Whether a provider refused the call with a status of its own, before its model worked. */
function wasRefused(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.status !== null && error.status >= 400;
}

/** A caller that left or a fault of its own says nothing about the model. */
function endOf(failure: UpstreamFailure | null): TurnEnd {
  return failure === null || failure.family === 'refusal' ? 'ignored' : 'dropped';
}

function statusOf(error: unknown): string {
  if (!(error instanceof UpstreamFailure)) return 'aborted';
  return error.status === null || error.status === 200 ? error.kind : String(error.status);
}

function usageOf(body: JsonObject): Usage | null {
  const usage = body['usage'] as JsonObject | null | undefined;
  if (typeof usage !== 'object' || usage === null) return null;
  const { prompt_tokens: input, completion_tokens: output } = usage;
  return typeof input === 'number' ? { input, output: typeof output === 'number' ? output : 0 } : null;
}
