import { hash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { JsonObject, ModelSettings, ProviderSettings } from '@spillway/contracts';
import type { Providers } from '@spillway/providers';
import type { Logger } from '@spillway/telemetry';
import { vectorsOf } from './embeddings-answer';
import { cut, HelperEmbedder } from './helper-embedder';
import type { GuardOptions } from './helper-guard';

interface EndpointOptions {
  readonly provider: ProviderSettings;
  /** The provider's name of the model. */
  readonly model: string;
}

/** Characters of a text that are sent; common models take 8192 tokens, and a Chinese character is about one. */
const LONGEST = 6000;
const BATCH_TEXTS = 64;

/** The embeddings of an OpenAI-compatible endpoint. Texts go out as they are, but for spaces around them. */
export class EndpointEmbedder extends HelperEmbedder {
  readonly id: string;
  /** What separates equal from other questions with the common models; each has a better one of its own. */
  readonly similarityThreshold = 0.92;
  /** Some models score nothing below this. */
  readonly candidateThreshold = 0.5;
  readonly defaultGuard = 'balanced';
  private readonly model: ModelSettings;

  constructor(
    { provider, model }: EndpointOptions,
    private readonly providers: Pick<Providers, 'embeddings'>,
    log: Pick<Logger, 'info' | 'warn'>,
    limits: Partial<GuardOptions> = {},
  ) {
    super(BATCH_TEXTS, log, { reach: signal => reach(provider, signal), ...limits });
    // The same name at another address may be another model.
    this.id = `${model}@${hash('sha256', provider.base_url).slice(0, 8)}`;
    this.model = modelOf(provider, model);
  }

  protected prepared(text: string): string {
    return cut(text, LONGEST);
  }

  protected async ask(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const body: JsonObject = { model: this.model.upstream_model, input: texts, encoding_format: 'float' };
    const answer = await this.providers.embeddings(this.model, body, { signal, headers: {} });
    let vectors: Float32Array[] = [];
    for await (const part of answer.parts) vectors = vectorsOf(part.body, texts.length);
    return vectors;
  }
}

/** Fails where nobody takes a connection at the address of a provider. */
async function reach({ base_url }: ProviderSettings, signal: AbortSignal): Promise<void> {
  const { protocol, hostname, port } = new URL(base_url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) });
  try {
    await once(socket, 'connect', { signal });
  } finally {
    socket.destroy();
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
