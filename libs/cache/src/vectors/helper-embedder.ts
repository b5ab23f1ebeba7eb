import { hash } from 'node:crypto';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from '@spillway/telemetry';
import { LRUCache } from 'lru-cache';
import { Embedder } from './embedder';
import { UnusableVectors } from './embeddings-answer';
import { HelperGuard, HelperUnavailable, type GuardOptions } from './helper-guard';
import { MicroBatch } from './micro-batch';

const BATCH_WINDOW_MS = 3;
/** Bytes of vectors that are remembered. */
const CACHE_BYTES = 32 * 1024 * 1024;

const GUARD: Omit<GuardOptions, 'probe'> = {
  name: 'embedder',
  deadlineMs: 300,
  failures: 3,
  probeEveryMs: 750,
  probeWhen: 'lost',
};

/**
 * An embedder that may be slow or lost: behind a deadline and a breaker, asked for each text once, for those that come
 * at the same time together.
 */
export abstract class HelperEmbedder extends Embedder implements OnApplicationShutdown {
  override readonly guard: HelperGuard;
  private readonly vectors = new LRUCache<string, Float32Array>({
    maxSize: CACHE_BYTES,
    sizeCalculation: vector => vector.byteLength,
  });
  private readonly underWay = new Map<string, Promise<Float32Array>>();
  private readonly batch: MicroBatch<string, Float32Array>;
  private known: number | null = null;

  /** @param batchTexts texts that are asked for together at most */
  protected constructor(
    batchTexts: number,
    protected readonly log: Pick<Logger, 'info' | 'warn'>,
    limits: Partial<GuardOptions>,
  ) {
    super();
    const probe = (signal: AbortSignal): Promise<unknown> => this.checked(['ping'], signal);
    this.guard = new HelperGuard({ ...GUARD, probe, ...limits }, log);
    this.batch = new MicroBatch(batchTexts, BATCH_WINDOW_MS, (texts: readonly string[]) =>
      this.guard.run(signal => this.checked(texts, signal)),
    );
  }

  get dimension(): number | null {
    return this.known;
  }

  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return Promise.all(texts.map(text => this.vectorOf(this.prepared(text.trim()))));
  }

  onApplicationShutdown(): void {
    this.guard.close();
  }

  /** What of a text is embedded. */
  protected abstract prepared(text: string): string;

  /** A vector of length 1 for each text; whatever it throws is a miss. */
  protected abstract ask(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;

  private vectorOf(text: string): Promise<Float32Array> {
    if (text === '') return Promise.reject(new HelperUnavailable(GUARD.name, 'nothing to embed'));
    const key = hash('sha256', text, 'base64url');
    const kept = this.vectors.get(key);
    if (kept !== undefined) return Promise.resolve(kept);
    let vector = this.underWay.get(key);
    if (vector === undefined) this.underWay.set(key, (vector = this.fetch(key, text)));
    return vector;
  }

  private async fetch(key: string, text: string): Promise<Float32Array> {
    try {
      const vector = await this.batch.add(text);
      this.vectors.set(key, vector);
      return vector;
    } finally {
      this.underWay.delete(key);
    }
  }

  /** Vectors of another dimension are of another model: whatever it is, it cannot be compared with what is kept. */
  private async checked(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const vectors = await this.ask(texts, signal);
    for (const { length } of vectors) {
      this.known ??= length;
      if (length !== this.known) throw new UnusableVectors(`vectors of ${length} numbers after ${this.known}`);
    }
    return vectors;
  }
}

/** The beginning of a text, never with half of a character at its end. */
export function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const isSplit = /[\ud800-\udbff]/.test(text.charAt(longest - 1));
  return text.slice(0, isSplit ? longest - 1 : longest);
}
