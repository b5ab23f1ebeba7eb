import type { Settings } from '@spillway/config';
import type { Providers } from '@spillway/providers';
import type { Logger } from '@spillway/telemetry';
import { BuiltinEmbedder } from './builtin-embedder';
import type { Embedder } from './embedder';
import { EndpointEmbedder } from './endpoint-embedder';
import { OnnxEmbedder, startOnnxWorker } from './onnx-embedder';
import { locateTransformers, modelSource } from './transformers-package';

/**
 * The embedder that is configured.
 * @throws ConfigurationError for one that cannot be: another in its place would answer differently
 */
export function embedderOf(
  settings: Settings['embedding'],
  providers: Pick<Providers, 'embeddings'>,
  log: Pick<Logger, 'info' | 'warn'>,
): Embedder {
  switch (settings.kind) {
    case 'builtin':
      return new BuiltinEmbedder();
    case 'endpoint':
      return new EndpointEmbedder(settings, providers, log);
    case 'onnx': {
      const data = { source: modelSource(settings.model), transformers: locateTransformers() };
      return new OnnxEmbedder(settings.model, () => startOnnxWorker(data), log);
    }
    default:
      return settings satisfies never;
  }
}
