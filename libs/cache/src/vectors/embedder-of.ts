import { ConfigurationError, type Settings } from '@spillway/config';
import type { Providers } from '@spillway/providers';
import type { Logger } from '@spillway/telemetry';
import { BuiltinEmbedder } from './builtin-embedder';
import type { Embedder } from './embedder';
import { EndpointEmbedder } from './endpoint-embedder';

/**
 * The embedder that is configured.
 * @throws ConfigurationError for one that this version does not have: another in its place would answer differently
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
    case 'onnx':
      throw new ConfigurationError([
        { path: 'embedding.provider', message: 'onnx is not part of this version; use builtin or a provider' },
      ]);
    default:
      return settings satisfies never;
  }
}
