import { Worker } from 'node:worker_threads';
import type { OnModuleInit } from '@nestjs/common';
import type { Logger } from '@spillway/telemetry';
import { normalise } from './embedder';
import { UnusableVectors } from './embeddings-answer';
import { cut, HelperEmbedder } from './helper-embedder';
import type { GuardOptions } from './helper-guard';
import { ModelThread } from './model-thread';
import type { OnnxThreadData } from './onnx-model';
import type { Tensor } from './transformers-package';

/** Characters of a text that are read: no admitted question is longer. */
const LONGEST = 600;
/** Each text is padded to the longest of its batch, so that large ones would waste what they save. */
const BATCH_TEXTS = 8;

export interface OnnxLimits extends Partial<GuardOptions> {
  /** Milliseconds from the end of a thread, as when its model could not be loaded, to the start of the next one. */
  readonly restartMs?: number;
}

/**
 * A model in a thread of this process. It is loaded, and downloaded where it is no folder, after the start: until then the
 * helper is lost, which is a miss. The texts are Unicode-normalised, in small letters, without spaces around them.
 */
export class OnnxEmbedder extends HelperEmbedder implements OnModuleInit {
  readonly id: string;
  /**
   * Models of the E5 family are trained at a temperature of 0.01, so that unrelated texts score 0.7 to 0.8 and equal ones
   * above 0.9. Not measured on questions, as no such model comes with this program.
   */
  readonly similarityThreshold = 0.93;
  readonly candidateThreshold = 0.8;
  readonly defaultGuard = 'balanced';
  private thread: ModelThread | null = null;
  private restart: NodeJS.Timeout | undefined;
  private readonly restartMs: number;

  /** @param model a folder, or a name on the Hugging Face hub */
  constructor(
    private readonly model: string,
    private readonly startWorker: () => Worker,
    log: Pick<Logger, 'info' | 'warn'>,
    { restartMs = 30_000, ...limits }: OnnxLimits = {},
  ) {
    super(BATCH_TEXTS, log, limits);
    // The number is raised with every change of what is done to texts.
    this.id = `onnx-1:${model}`;
    this.restartMs = restartMs;
  }

  /** The start does not wait for it. */
  onModuleInit(): void {
    const thread = new ModelThread(this.startWorker());
    this.thread = thread;
    void thread.ended.then(reason => {
      if (this.thread === thread) this.startLater(reason);
    });
  }

  override onApplicationShutdown(): void {
    super.onApplicationShutdown();
    clearTimeout(this.restart);
    const { thread } = this;
    this.thread = null;
    void thread?.close();
  }

  /** E5 models were trained on texts that say what they are. */
  protected prepared(text: string): string {
    const plain = cut(text.normalize('NFKC').toLowerCase(), LONGEST);
    return /(?:^|[/\\-])e5-/i.test(this.model) && plain !== '' ? `query: ${plain}` : plain;
  }

  protected async ask(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    if (this.thread === null) throw new UnusableVectors('no thread');
    return rowsOf(await this.thread.run(texts, signal), texts.length);
  }

  private startLater(reason: string): void {
    this.log.warn(
      { part: 'embedder', model: this.model, reason },
      'the model could not be loaded or has ended, and is started again after a while',
    );
    this.restart = setTimeout(() => this.onModuleInit(), this.restartMs).unref();
  }
}

/** The thread in which a model runs. */
export function startOnnxWorker(data: OnnxThreadData): Worker {
  return new Worker(require.resolve('./onnx-model'), { workerData: data });
}

function rowsOf({ data, dims }: Tensor, count: number): Float32Array[] {
  const [rows, dimension] = dims;
  if (dims.length !== 2 || rows !== count || dimension === undefined || data.length !== count * dimension) {
    throw new UnusableVectors(`a tensor of ${dims.join(' × ')} for ${count} texts`);
  }
  return Array.from({ length: count }, (_, row) => {
    const vector = Float32Array.from({ length: dimension }, (__, at) => data[row * dimension + at] ?? 0);
    if (!normalise(vector)) throw new UnusableVectors('a vector without direction');
    return vector;
  });
}
