import { parentPort, workerData } from 'node:worker_threads';
import { serveModel } from './serve-model';
import { loadModel, type ModelSource, type Transformers } from './transformers-package';

/** What the thread is started with. */
export interface OnnxThreadData {
  readonly source: ModelSource;
  /** The file of `@huggingface/transformers`. */
  readonly transformers: string;
}

/** A thread of its own: loading and running a model hold up the thread they happen in, for seconds and milliseconds. */
if (parentPort !== null) {
  const { source, transformers } = workerData as OnnxThreadData;
  void serveModel(parentPort, () => loadModel(require(transformers) as Transformers, source));
}
