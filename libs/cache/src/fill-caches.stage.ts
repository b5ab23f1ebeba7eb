import {
  CompletionAssembly,
  type Answer,
  type AnswerPart,
  type Clock,
  type JsonObject,
  type KeyedCall,
  type Next,
  type Stage,
} from '@spillway/contracts';
import { ResponseDigest } from '@spillway/telemetry';
import { isFirstHand, isWorthKeeping, mayWriteExact, mayWriteSimilar, staleMsOf, ttlMsOf } from './cacheability';
import { restOf } from './cached-answer';
import type { ExactStore } from './exact-store';
import type { SimilarQuestions } from './similar-questions';
import { tapped, type Tap } from './tapped-parts';

/** Keeps a complete, clean answer after its reader has it. */
export class FillCachesStage implements Stage<KeyedCall> {
  readonly name = 'fill-caches';

  constructor(
    private readonly store: ExactStore,
    private readonly questions: Pick<SimilarQuestions, 'keep'>,
    private readonly clock: Clock,
    /** Bytes of one answer at most; asked anew for every answer. */
    private readonly maxItemBytes: () => number,
  ) {}

  async handle(call: KeyedCall, next: Next<KeyedCall>): Promise<Answer> {
    const answer = await next(call);
    const { cacheKey } = call;
    if (cacheKey === null || !mayWriteExact(call)) return answer;
    const maxBytes = this.maxItemBytes();
    const recording = new Recording(maxBytes, body => {
      // Only now, as a call may come to be degraded while its answer is read.
      if (isFirstHand(call, answer) && isWorthKeeping(body)) this.keep(cacheKey, call, body, maxBytes);
    });
    return { outcome: answer.outcome, parts: tapped(answer.parts, recording) };
  }

  private keep(cacheKey: string, call: KeyedCall, body: JsonObject, maxBytes: number): void {
    const rest = restOf(body);
    const restBytes = Buffer.byteLength(rest);
    if (restBytes > maxBytes) return;
    const madeAt = this.clock.now();
    const { model, usage } = call.journal;
    const digest = ResponseDigest.of(body);
    const expiresAt = madeAt + ttlMsOf(call);
    const staleMs = staleMsOf(call);
    const facts = { rest, restBytes, model, usage, digest, madeAt, expiresAt };
    const kept = staleMs === 0 ? facts : { ...facts, staleUntil: expiresAt + staleMs };
    void this.store.set(cacheKey, kept);
    if (!mayWriteSimilar(call)) return;
    const { canonicalKey = null, question = null } = call;
    if (canonicalKey !== null) void this.store.set(canonicalKey, kept);
    if (question !== null) void this.questions.keep(call, question, cacheKey, expiresAt);
  }
}

/** Gathers an answer while it passes, unless it grows too large, and hands it over once its reader has all of it. */
class Recording implements Tap {
  private assembly: CompletionAssembly | null = null;
  private oversize = false;

  constructor(
    private readonly maxCharacters: number,
    private readonly done: (body: JsonObject) => void,
  ) {}

  part({ kind, body }: AnswerPart): void {
    if (kind === 'whole') {
      this.handOver(body);
      return;
    }
    if (this.oversize) return;
    this.assembly ??= new CompletionAssembly();
    this.assembly.add(body);
    if (this.assembly.characters <= this.maxCharacters) return;
    this.oversize = true;
    this.assembly = null;
  }

  end(): void {
    const assembled = this.assembly?.result();
    if (assembled?.faithful) this.handOver(assembled.body);
  }

  private handOver(body: JsonObject): void {
    // The reader first.
    setImmediate(() => {
      try {
        this.done(body);
      } catch (error) {
        // What is nested too deeply to be written down is passed on, but not kept.
        if (!(error instanceof RangeError)) throw error;
      }
    });
  }
}
