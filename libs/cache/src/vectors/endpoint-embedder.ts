import { hash } from 'node:crypto';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { JsonObject, ModelSettings, ProviderSettings } from '@spillway/contracts';
import type { Providers } from '@spillway/providers';
import type { Logger } from '@spillway/telemetry';
import { LRUCache } from 'lru-cache';
import { Embedder } from './embedder';
import { UnusableVectors, vectorsOf } from './embeddings-answer';
import { HelperGuard, HelperUnavailable, type GuardOptions } from './helper-guard';
import { MicroBatch } from './micro-batch';

interface EndpointOptions {
  readonly provider: ProviderSettings;
  /** The provider's name of the model. */
  readonly model: string;
}

/** Characters of a text that are sent; common models take 8192 tokens, and a Chinese character is about one. */
const LONGEST = 6000;
const BATCH_TEXTS = 64;
const BATCH_WINDOW_MS = 3;
/** Bytes of vectors that are remembered. */
const CACHE_BYTES = 32 * 1024 * 1024;

const GUARD: Omit<GuardOptions, 'probe'> = {
  name: 'embedder',
  deadlineMs: 300,
  failures: 3,
  probeEveryMs: 1000,
  probeWhen: 'lost',
};

/** The embeddings of an OpenAI-compatible endpoint. Texts go out as they are, but for spaces around them. */
export class EndpointEmbedder extends Embedder implements OnApplicationShutdown {
  readonly id: string;
  /** What separates equal from other questions with the common models; each has a better one of its own. */
  readonly similarityThreshold = 0.92;
  /** Some models score nothing below this. */
  readonly candidateThreshold = 0.5;
  readonly defaultGuard = 'balanced';
  override readonly guard: HelperGuard;
  private readonly model: ModelSettings;
  private readonly vectors = new LRUCache<string, Float32Array>({
    maxSize: CACHE_BYTES,
    sizeCalculation: vector => vector.byteLength,
  });
  private readonly underWay = new Map<string, Promise<Float32Array>>();
  private readonly batch = new MicroBatch(BATCH_TEXTS, BATCH_WINDOW_MS, (texts: readonly string[]) =>
    this.guard.run(signal => this.ask(texts, signal)),
  );
  private known: number | null = null;

  constructor(
    { provider, model }: EndpointOptions,
    private readonly providers: Pick<Providers, 'embeddings'>,
    log: Pick<Logger, 'info' | 'warn'>,
    limits: Partial<GuardOptions> = {},
  ) {
    super();
    // The same name at another address may be another model.
    this.id = `${model}@${hash('sha256', provider.base_url).slice(0, 8)}`;
    this.model = modelOf(provider, model);
    const probe = (signal: AbortSignal): Promise<unknown> => this.ask(['ping'], signal);
    this.guard = new HelperGuard({ ...GUARD, probe, ...limits }, log);
  }

  get dimension(): number | null {
    return this.known;
  }

  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return Promise.all(texts.map(text => this.vectorOf(cut(text.trim()))));
  }

  onApplicationShutdown(): void {
    this.guard.close();
  }

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

  private async ask(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const body: JsonObject = { model: this.model.upstream_model, input: texts, encoding_format: 'float' };
    const answer = await this.providers.embeddings(this.model, body, { signal, headers: {} });
    let vectors: Float32Array[] = [];
    for await (const part of answer.parts) vectors = vectorsOf(part.body, texts.length);
    for (const vector of vectors) this.check(vector.length);
    return vectors;
  }

  /** Vectors of another dimension are of another model: whatever it is, it cannot be compared with what is kept. */
  private check(dimension: number): void {
    this.known ??= dimension;
    if (dimension !== this.known) throw new UnusableVectors(`vectors of ${dimension} numbers after ${this.known}`);
  }
}

/** Limits of time and rate are those of the guard. */
function modelOf(provider: ProviderSettings, model: string): ModelSettings {
  return {
    name: model,
    metric_label: 'embedding',
    provider,
    upstream_model: model,
    limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0 },
    headroom: 0,
    timeout_ms: 60_000,
    first_token_timeout_ms: 60_000,
    idle_timeout_ms: 60_000,
  };
}

/** The beginning of a text, never with half of a character at its end. */
function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  const isSplit = /[\ud800-\udbff]/.test(text.charAt(LONGEST - 1));
  return text.slice(0, isSplit ? LONGEST - 1 : LONGEST);
}
