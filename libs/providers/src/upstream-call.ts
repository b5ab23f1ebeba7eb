import type { AnswerPart, CallSignal, Clock, ModelSettings, Operation } from '@spillway/contracts';
import { readAnswer } from './answer-reader';
import type { Connections } from './connections';
import { decoded } from './decoding';
import { Exchange, type ByteSource, type ExchangeHead } from './exchange';
import { failureOfAnswer } from './failure-of-answer';
import type { ProviderClient } from './provider-client';
import type { Headers } from './rate-limits';
import { TimeLimits } from './time-limits';
import { failureOfTransport } from './transport-failure';
import { UpstreamFailure } from './upstream-failure';

const PATHS: Readonly<Record<Operation, string>> = { chat: '/chat/completions', embeddings: '/embeddings' };
/** Bytes of an error that are kept. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Milliseconds that the rest of an error is waited for: another model may answer meanwhile. */
const ERROR_PATIENCE_MS = 1_000;

/**
 * A 2xx of a model whose head is here; its parts are read once, and leaving them early aborts the call. A whole answer is
 * one part, with which the call is over.
 */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly parts: AsyncIterable<AnswerPart>;
}

export interface CallOptions {
  readonly operation: Operation;
  readonly model: ModelSettings;
  readonly streaming: boolean;
  readonly signal: CallSignal;
}

/** One call of one model from its first byte to its last: owns its exchange, its limits of time and its clean-up. */
export class UpstreamCall {
  private readonly exchange: Exchange;
  private readonly limits: TimeLimits;
  private readonly leave = (): void => this.abort(this.options.signal.reason);

  constructor(
    private readonly client: ProviderClient,
    connections: Connections,
    private readonly clock: Clock,
    private readonly options: CallOptions,
  ) {
    this.exchange = new Exchange(connections);
    this.limits = new TimeLimits(options.model, options.streaming, timeLimit =>
      this.abort(new UpstreamFailure('timeout', `The model broke its ${timeLimit} limit of time.`, { timeLimit })),
    );
    if (options.signal.aborted) this.leave();
    else options.signal.addEventListener('abort', this.leave, { once: true });
  }

  /** @throws UpstreamFailure, or the reason of the signal. */
  async open(body: string, headers: Readonly<Record<string, string>>): Promise<UpstreamAnswer> {
    try {
      const head = await this.send(Buffer.from(body), headers);
      if (head.status < 200 || head.status > 299) throw await this.refusal(head);
      return { status: head.status, headers: head.headers, parts: this.parts(head) };
    } catch (error) {
      this.close();
      throw error;
    }
  }

  private async send(body: Buffer, headers: Readonly<Record<string, string>>): Promise<ExchangeHead> {
    try {
      return await this.client.post(PATHS[this.options.operation], body, headers, this.exchange);
    } catch (error) {
      throw this.meaningOf(error);
    }
  }

  /**
   * An iterator by hand: leaving it ends the call at once, begun or not, also while its next part is awaited. A generator
   * around that of the reader would cost each chunk three more turns of the queue of promises.
   */
  private parts(head: ExchangeHead): AsyncIterable<AnswerPart> {
    const parts = readAnswer(this.source(head), {
      operation: this.options.operation,
      onContent: () => this.limits.contentArrived(),
      failureOf: json => this.failure(head, json, null, false),
    });
    const next = async (): Promise<IteratorResult<AnswerPart>> => {
      try {
        const result = await parts.next();
        // A whole answer was read to its end: who has it need not ask for more.
        if (result.done === true || result.value.kind === 'whole') this.finish();
        return result;
      } catch (error) {
        this.close();
        throw error;
      }
    };
    const leave = (): Promise<IteratorResult<AnswerPart>> => {
      this.close();
      return parts.return(undefined);
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
  }

  private finish(): void {
    this.exchange.discard();
    this.close();
  }

  private async refusal(head: ExchangeHead): Promise<UpstreamFailure> {
    const source = this.source(head);
    const pieces: Buffer[] = [];
    let bytes = 0;
    let cut = false;
    const enough = setTimeout(() => this.exchange.abort(new Error('the error did not end')), ERROR_PATIENCE_MS);
    try {
      for (let piece = await source.read(); piece !== null && bytes < MAX_ERROR_BYTES; piece = await source.read()) {
        pieces.push(piece);
        bytes += piece.length;
      }
    } catch (error) {
      // The status has said the most important thing already, unless nobody wants to know any more.
      if (this.options.signal.aborted) throw error;
      cut = true;
    } finally {
      clearTimeout(enough);
    }
    const text = Buffer.concat(pieces).subarray(0, MAX_ERROR_BYTES).toString('utf8');
    return this.failure(head, text, head.status, cut || bytes > MAX_ERROR_BYTES);
  }

  private failure({ headers }: ExchangeHead, text: string, status: number | null, cut: boolean): UpstreamFailure {
    return failureOfAnswer({ status, headers, text, cut }, this.client, this.clock.now());
  }

  /** The bytes of the answer under the limits of time, with every error as what it means. */
  private source(head: ExchangeHead): ByteSource {
    const source = decoded(this.exchange, head.headers.get('content-encoding'));
    return {
      read: async () => {
        this.limits.waiting();
        try {
          return await source.read();
        } catch (error) {
          throw this.meaningOf(error);
        } finally {
          this.limits.arrived();
        }
      },
    };
  }

  /** Why it was aborted if it was, whatever error that led to; else what an error of the transport means. */
  private meaningOf(error: unknown): unknown {
    const end = this.exchange.end;
    switch (end?.kind) {
      case 'aborted':
        return end.error;
      case 'failed':
        return failureOfTransport(end.error);
      default:
        return failureOfTransport(error);
    }
  }

  private abort(reason: unknown): void {
    this.exchange.abort(reason);
    this.close();
  }

  private close(): void {
    this.limits.stop();
    this.options.signal.removeEventListener('abort', this.leave);
    this.exchange.close();
  }
}
