import type { OnModuleInit } from '@nestjs/common';
import type { JsonObject, KeyedCall, Question, RouteSettings } from '@spillway/contracts';
import type { Logger } from '@spillway/telemetry';
import { readQuestion } from './question';
import { partitionOf } from './scope-fingerprint';
import { similarityRules, type SimilarityRules } from './similarity';
import type { NearQuestions } from './trust/reuse-desk';
import type { KeptQuestion } from './trust/trust';
import type { Embedder } from './vectors/embedder';
import type { VectorIndex, VectorPlace } from './vectors/vector-index';

/** Neighbours that are compared with a question, nearest first. */
const MOST_CANDIDATES = 8;

/** Questions that have nothing in common with each other, and hardly with others. */
const UNRELATED = ['How do I remove limescale from a kettle?', 'Which museums in Vienna are free on Sundays?'] as const;

export interface Found {
  readonly vector: Float32Array;
  readonly rules: SimilarityRules;
  readonly near: NearQuestions;
}

/** Questions that were asked, by what they say. Never fails: trouble is no neighbours, or a question that is not kept. */
export class SimilarQuestions implements OnModuleInit {
  /** The unrelated questions as the embedder sees them; null: not known yet. */
  private unrelated: Promise<readonly Float32Array[]> | null = null;

  constructor(
    private readonly embedder: Embedder,
    private readonly index: VectorIndex,
    private readonly log: Pick<Logger, 'error'>,
  ) {}

  /** The start does not wait: without its embedder a process serves, and tries again at the first question. */
  onModuleInit(): void {
    void this.tryOut();
  }

  /** What is near the question of a call, and what holds for it. Null where nobody can tell. */
  async near(call: KeyedCall, question: Question): Promise<Found | null> {
    const vector = await this.vectorOf(question);
    if (vector === null) return null;
    const rules = await this.rulesOf(call, vector);
    const place = this.placeOf(call, question, vector);
    const neighbours = await this.index.search(place, vector, MOST_CANDIDATES, rules.near);
    return { vector, rules, near: { text: question.text, partition: place.partition, neighbours } };
  }

  /** Makes the vector of what a request asks, so that it is at hand when an answer is kept. False: that failed just now. */
  async prepare(body: JsonObject, { cache }: Pick<RouteSettings, 'cache'>): Promise<boolean> {
    if (!cache.exact || cache.semantic === false) return true;
    const identity = { namespace: '', scope: '', route: '', generation: '', beta: undefined, body };
    const { question } = readQuestion(identity, cache.rules);
    return question === null || (await this.vectorOf(question)) !== null;
  }

  /** From now on the question leads to the answer under `key`. */
  async keep(call: KeyedCall, question: Question, key: string, expiresAt: number): Promise<void> {
    const vector = call.vector ?? (await this.vectorOf(question));
    if (vector === null) return;
    const { text } = question;
    await this.index.upsert([{ ...this.placeOf(call, question, vector), id: key, text, vector, expiresAt }]);
  }

  /** The question is not found any more; its answer stays, for those who ask the very same. */
  async forget({ partition, id }: KeptQuestion): Promise<void> {
    await this.index.delete(partition, [id]);
  }

  private async vectorOf({ text }: Question): Promise<Float32Array | null> {
    const [vector] = await this.embedder.embed([text]).catch(() => []);
    return vector ?? null;
  }

  private placeOf({ controls, route }: KeyedCall, question: Question, vector: Float32Array): VectorPlace {
    const { namespace, generation, fingerprint } = question;
    const partition = partitionOf({
      namespace,
      scope: controls.scope,
      route: route.name,
      embedder: this.embedder.id,
      dimension: vector.length,
      generation,
    });
    return { partition, fingerprint };
  }

  /** The scores of an embedder that finds everything alike decide nothing: then only the strict guard does. */
  private async rulesOf({ route, controls }: KeyedCall, vector: Float32Array): Promise<SimilarityRules> {
    const rules = similarityRules(route.cache, controls.cacheThreshold, this.embedder);
    const unrelated = await this.tryOut();
    const isBlind = unrelated.every(other => this.areAlike(vector, other));
    return isBlind ? { ...rules, guard: 'strict' } : rules;
  }

  /** Empty while the embedder is lost; the next question tries again. */
  private tryOut(): Promise<readonly Float32Array[]> {
    this.unrelated ??= this.embedUnrelated().catch(() => {
      this.unrelated = null;
      return [];
    });
    return this.unrelated;
  }

  /** One after the other, as some servers take no lists. */
  private async embedUnrelated(): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const text of UNRELATED) vectors.push(...(await this.embedder.embed([text])));
    const [one, other] = vectors;
    if (one !== undefined && other !== undefined && this.areAlike(one, other)) this.warn();
    return vectors;
  }

  private areAlike(one: Float32Array, other: Float32Array): boolean {
    return cosine(one, other) >= this.embedder.similarityThreshold;
  }

  private warn(): void {
    this.log.error(
      { part: 'embedder' },
      'the embedder finds unrelated questions alike: where it does, only the strict guard lets an answer serve another question',
    );
  }
}

/** Of vectors of length 1. */
function cosine(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += (one[index] ?? 0) * (other[index] ?? 0);
  return sum;
}
