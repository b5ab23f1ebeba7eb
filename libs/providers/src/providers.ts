import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  Clock,
  type CallSignal,
  type JsonObject,
  type ModelSettings,
  type ProviderSettings,
} from '@spillway/contracts';
import { ClockWatch } from './clock-watch';
import { Connections } from './connections';
import { ProviderClient } from './provider-client';
import { chatBody, embeddingsBody } from './upstream-body';
import { UpstreamCall, type CallOptions, type UpstreamAnswer } from './upstream-call';

interface EmbeddingsOptions {
  /** Aborts the call upstream; its reason is what is thrown then. */
  readonly signal: CallSignal;
  /** Headers of this request, such as its id. */
  readonly headers: Readonly<Record<string, string>>;
}

interface ChatOptions extends EmbeddingsOptions {
  readonly streaming: boolean;
}

/** Calls models of OpenAI-compatible providers: one attempt each, no retry, every failure classified. */
@Injectable()
export class Providers implements OnApplicationShutdown {
  private readonly connections = new Connections();
  /** A reload brings new settings objects, and with them new clients; the sockets are shared by all. */
  private readonly clients = new WeakMap<ProviderSettings, ProviderClient>();

  constructor(
    private readonly clock: Clock,
    @Inject(ClockWatch) private readonly watch: Pick<ClockWatch, 'note'>,
  ) {}

  /**
   * Resolves when a model has begun to answer with a 2xx.
   * @throws UpstreamFailure, or the reason of the signal; so do the parts of the answer.
   */
  chat(model: ModelSettings, body: JsonObject, { streaming, signal, headers }: ChatOptions): Promise<UpstreamAnswer> {
    const text = chatBody(model, body, streaming);
    return this.begin({ operation: 'chat', model, streaming, signal }).open(text, headers);
  }

  /** The same for embeddings. */
  embeddings(model: ModelSettings, body: JsonObject, { signal, headers }: EmbeddingsOptions): Promise<UpstreamAnswer> {
    const text = embeddingsBody(model, body);
    return this.begin({ operation: 'embeddings', model, streaming: false, signal }).open(text, headers);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connections.close();
  }

  private begin(options: CallOptions): UpstreamCall {
    return new UpstreamCall(this.clientOf(options.model.provider), this.connections, this.clock, options);
  }

  private clientOf(settings: ProviderSettings): ProviderClient {
    let client = this.clients.get(settings);
    if (!client) {
      client = new ProviderClient(settings, headers => this.watch.note(settings.name, headers));
      this.clients.set(settings, client);
    }
    return client;
  }
}
