import type { MessagePort } from 'node:worker_threads';
import type { FeatureExtractor, Tensor } from './transformers-package';

export type ModelReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'tensor'; readonly tensor: Tensor }
  /** `reason` is the name of an error, as its message may hold the text. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Answers the lists of texts that come to a port, once the model is loaded; whoever asks waits for each answer. */
export async function serveModel(
  port: Pick<MessagePort, 'on' | 'postMessage'>,
  load: () => Promise<FeatureExtractor>,
): Promise<void> {
  const extract = await load();
  const say = (reply: ModelReply): void => port.postMessage(reply);
  port.on('message', (texts: readonly string[]) => {
    extract(texts, { pooling: 'mean', normalize: true }).then(
      ({ data, dims }) => say({ kind: 'tensor', tensor: { data: Float32Array.from(data), dims: [...dims] } }),
      (error: unknown) => say({ kind: 'failed', reason: error instanceof Error ? error.name : 'unknown' }),
    );
  });
  say({ kind: 'ready' });
}
