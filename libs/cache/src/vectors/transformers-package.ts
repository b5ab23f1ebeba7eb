import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { ConfigurationError } from '@spillway/config';

/** Installed only by those who want it: it takes some 475 MB. */
const PACKAGE = '@huggingface/transformers';
/** The version that is tested. */
const VERSION = '4.3.2';

/** A number for each text and place, row after row. */
export interface Tensor {
  readonly data: ArrayLike<number>;
  readonly dims: readonly number[];
}

/** A model that turns texts into vectors, one row of the tensor for each. */
export type FeatureExtractor = (
  texts: readonly string[],
  options: { readonly pooling: 'mean'; readonly normalize: boolean },
) => Promise<Tensor>;

interface PipelineOptions {
  readonly dtype: 'q8' | 'fp32';
  readonly local_files_only: boolean;
  readonly session_options: { readonly intraOpNumThreads: number; readonly logSeverityLevel: number };
}

/** As much of `@huggingface/transformers` as is used here. */
export interface Transformers {
  pipeline(task: 'feature-extraction', model: string, options: PipelineOptions): Promise<FeatureExtractor>;
}

/** Where a model comes from: a folder, or the Hugging Face hub. */
export interface ModelSource {
  readonly isFolder: boolean;
  /** The whole path of the folder, or the name on the hub. */
  readonly name: string;
  readonly dtype: 'q8' | 'fp32';
}

/** Errors alone; a single thread, since the machine has calls to serve too. */
const SESSION = { intraOpNumThreads: 1, logSeverityLevel: 3 };

/**
 * The file of the package.
 * @throws ConfigurationError with the command that installs it, when it is not there
 */
export function locateTransformers(locate: (name: string) => string = name => require.resolve(name)): string {
  try {
    return locate(PACKAGE);
  } catch {
    const command = `ONNXRUNTIME_NODE_INSTALL=skip npm install --no-save ${PACKAGE}@${VERSION}`;
    throw new ConfigurationError([
      { path: 'embedding.provider', message: `onnx needs a package that is not installed: ${command}` },
    ]);
  }
}

/**
 * What is meant by a configured model; folders are taken in eight bits where they have them.
 * @throws ConfigurationError for a folder that does not exist
 */
export function modelSource(model: string): ModelSource {
  if (existsSync(model)) {
    const name = resolve(model);
    return { isFolder: true, name, dtype: existsSync(join(name, 'onnx/model_quantized.onnx')) ? 'q8' : 'fp32' };
  }
  if (model.startsWith('.') || isAbsolute(model)) {
    throw new ConfigurationError([{ path: 'embedding.model', message: `there is no folder ${resolve(model)}` }]);
  }
  return { isFolder: false, name: model, dtype: 'q8' };
}

/** Loads a model, and first downloads it where it is no folder and was not downloaded before. */
export function loadModel(transformers: Transformers, source: ModelSource): Promise<FeatureExtractor> {
  return transformers.pipeline('feature-extraction', source.name, {
    dtype: source.dtype,
    local_files_only: source.isFolder,
    session_options: SESSION,
  });
}
